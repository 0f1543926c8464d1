"""The code of functions that only other compiled functions call.

Numba makes a library of every function it compiles, also of those that only other compiled
functions call: our inner kernels, and Numba's own ``np.empty`` or ``min``. It optimises each as a
whole, makes machine code of it, and links what it optimised into the caller, where all of this is
done again. Nothing ever calls the first machine code. A library made here does that work when it is
asked for the address of a function it has, which Numba does only for what Python may call. Each
function is still simplified for itself: without this, runs took a fifth longer.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding
import llvmlite.ir
from numba.core import codegen, config, targetconfig
from numba.core.environment import lookup_environment

from slanted.runtime.interrupts import uninterrupted

ENVIRONMENT = "_ZN08NumbaEnv"
"""How the names of variables start that hold a function's environment."""
FIRST_LEVEL = 1
"""LLVM's level for a function by itself, before it is linked into its callers and optimised at
Numba's level. With Numba's here too, kernels take a CPU second longer, and runs are not faster."""


class InnerLibrary(codegen.JITCodeLibrary):  # type: ignore[misc]
    """A library whose machine code is made when it is first needed."""

    _is_loaded = False
    _is_cached = False

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        flags = targetconfig.ConfigStack.top_or_none()
        self._adds_in_any_order = flags is not None and bool(flags.fastmath)

    def finalize(self) -> None:
        """Link what the functions call, and leave the rest for later.

        If sums may be added up in another order, this order, and so the last bits of the result,
        depend on what is optimised when; then it is optimised here, as Numba does.
        """
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            if hasattr(library, "_reload_init"):  # not in Numba 0.60
                self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        if self._adds_in_any_order:
            self._optimize_final_module()
        self._finalized = True

    def _optimize_functions(self, module: Any) -> None:
        level = config.OPT
        if not self._adds_in_any_order:
            config.OPT = type(level)(min(level, FIRST_LEVEL))
        try:
            super()._optimize_functions(module)
        finally:
            config.OPT = level

    def get_pointer_to_function(self, name: str) -> int:
        """Return the address of a function, or 0 if the library has no such function."""
        self._ensure_finalized()
        if not self._is_loaded:
            if name not in {each.name for each in self.get_defined_functions()}:
                return 0
            self._load()
        address: int = super().get_pointer_to_function(name)
        return address

    @property
    def codegen(self) -> Any:
        """What made this library; it sets no environments in code that does not exist."""
        return self._codegen if self._is_loaded else _NoEnvironments

    def serialize_using_object_code(self) -> tuple[str, str, tuple[bytes, bytes]]:
        """Return the machine code and the functions' names, for the cache.

        Numba also keeps the code from which the machine code was made, so that it can be linked
        into other functions, and reads all of it at every start. But what is cached here is what
        Python calls, and no kernel links that.
        """
        self._ensure_finalized()
        names = llvmlite.ir.Module(name=self.name)
        nothing = llvmlite.ir.FunctionType(llvmlite.ir.VoidType(), ())
        for function in self.get_defined_functions():
            named = llvmlite.ir.Function(names, nothing, function.name)
            llvmlite.ir.IRBuilder(named.append_basic_block()).unreachable()
        return self.name, "object", (self._get_compiled_object(), _bitcode(names))

    def _set_compiled_object(self, value: bytes) -> None:
        super()._set_compiled_object(value)
        self._is_cached = True

    def _get_module_for_linking(self) -> Any:
        if self._is_cached:
            raise RuntimeError(f"{self.name} comes from the cache, so it cannot be linked")
        module = super()._get_module_for_linking()
        # A caller that does not use a callee's environment is spared it, like unused functions.
        for variable in module.global_variables:
            if variable.name.startswith(ENVIRONMENT):
                variable.linkage = "linkonce_odr"
        return module

    def _load(self) -> None:
        self._codegen._check_llvm_bugs()
        if not self._adds_in_any_order:
            self._optimize_final_module()
        self._final_module.verify()
        self._finalize_final_module()
        # Callees have set theirs nowhere. After loading from the cache Numba does the same.
        for variable in self._final_module.global_variables:
            if variable.name.startswith(ENVIRONMENT):
                environment = lookup_environment(variable.name)
                if environment is not None:
                    self._codegen.set_env(variable.name, environment)

    def _finalize_final_module(self) -> None:
        # LLVM asks Python for machine code from the cache, and tells it of what it has made. It
        # goes on if Python is interrupted there, with nothing but the functions' names.
        with uninterrupted():
            super()._finalize_final_module()
            self._is_loaded = True  # also when it comes from the cache
        if self._is_cached and self._compiled_object is not None:
            raise RuntimeError(f"LLVM has not taken {self.name} from the cache")


def _bitcode(module: Any) -> bytes:
    code: bytes = llvmlite.binding.parse_assembly(str(module)).as_bitcode()
    return code


class _NoEnvironments:
    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        """Do nothing."""
