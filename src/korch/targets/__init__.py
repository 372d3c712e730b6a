"""What differs between the places where programs run: backends, costs, rates, linking, what can be timed.

In: `Options`. Out: a `Target`, of which the search asks everything that is not the same everywhere. Start with
`target.py`.
"""

from korch.targets.choose import target_of as target_of
from korch.targets.target import Target as Target
