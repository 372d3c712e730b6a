"""One matrix product, a pointwise convolution included, with the maps before and after it."""

from __future__ import annotations

from korch.backends.cpu.c import Code
from korch.backends.cpu.loops import emit, products
from korch.backends.cpu.loops.binding import Place
from korch.backends.cpu.loops.form import KernelForm
from korch.backends.cpu.loops.refusals import nest_refusal
from korch.ir.cone import Cone


class ProductForm:
    """A product is a stage of loop nests, which multiplies tile by tile."""

    priority = 10
    counts_elements = True

    def matches(self, cone: Cone) -> bool:
        return products.product_of(cone) is not None

    def refusal(self, cone: Cone) -> str:
        return nest_refusal(cone, cone.linear, products.refusal)

    def generate(self, cone: Cone, threads: int) -> Code:
        return emit.generate(cone, threads)

    def places(self, cone: Cone, place: Place) -> bool:
        return not products.refusal(cone, place)

    def place(self, cone: Cone, place: Place) -> Code:
        return emit.generate(cone, 1, place)


FORM: KernelForm = ProductForm()
