"""The passes of Numba's compiler that kernels need, and what it does between them.

A kernel has no closures, no `with`, and no branches or loops that depend on types. Numba looks for
all of this in every function, some of it three times, and after each look it computes anew which
variables live where: a tenth of the compiler's work. Other passes compute that too, but only the
last time, when variables are deleted, does anybody ask for it: another twenty-fifth.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager
from numba.core.postproc import PostProcessor
from numba.core.transforms import canonicalize_cfg

from slanted.runtime import quick_compiler

LEFT_OUT = {
    "DeadBranchPrune",
    "DumpParforDiagnostics",
    "FindLiterallyCalls",
    "InlineClosureLikes",
    "InlineOverloads",
    "LiteralPropagationSubPipelinePass",
    "LiteralUnroll",
    "MakeFunctionToJitFunction",
    "NoPythonSupportedFeatureValidation",
    "RewriteDynamicRaises",
    "WithLifting",
}
"""Names of passes. All others stay, also those that a newer Numba adds. `IRLegalization` seems to
be a check only, but without it arrays are never freed."""


class FewPasses(CompilerBase):  # type: ignore[misc]
    """Numba's compiler without the passes that find nothing in a kernel."""

    def define_pipelines(self) -> list[Any]:
        """Return the passes of a function, as Numba asks for them."""
        whole = DefaultPassBuilder.define_nopython_pipeline(self.state)
        if not quick_compiler.is_used():
            return [whole]
        chosen = PassManager("kernel")
        for each, purpose in whole.passes:
            if each.__name__ not in LEFT_OUT:
                chosen.add_pass(each, purpose)
        chosen.finalize()
        return [chosen]


@contextmanager
def lifetimes_once() -> Iterator[None]:
    """Have Numba compute inside the block which variables live where only when it deletes them."""
    compute = PostProcessor.run

    def run(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
        if emit_dels or self.func_ir.is_generator:
            compute(self, emit_dels, extend_lifetimes)
            return
        self.func_ir.blocks = canonicalize_cfg(self.func_ir.blocks)
        self.func_ir.generator_info = None

    PostProcessor.run = run
    try:
        yield
    finally:
        PostProcessor.run = compute
