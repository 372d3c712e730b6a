"""What is known of the rewrites: every one runs on sample graphs, and all producers of a tensor must agree.

In: rewrites and their samples (`rewrite/samples`). Out: findings, and the evidence that `korch rules list` shows.
Start with `agreement.py`, then `check.py`.
"""

from korch.rewrite.evidence.agreement import Disagreement as Disagreement
from korch.rewrite.evidence.agreement import disagreements as disagreements
from korch.rewrite.evidence.check import Finding as Finding
from korch.rewrite.evidence.check import RewriteEvidence as RewriteEvidence
from korch.rewrite.evidence.check import check as check
from korch.rewrite.evidence.check import evidence_of as evidence_of
from korch.rewrite.evidence.table import Sample as Sample
from korch.rewrite.evidence.table import all_samples as all_samples
from korch.rewrite.evidence.table import all_subjects as all_subjects
from korch.rewrite.evidence.table import sample as sample
