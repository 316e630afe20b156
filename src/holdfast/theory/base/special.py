"""The special functions of scipy, loaded when the first of them is called.

They are in compiled files, which load in a tenth of the time that their package takes: that also
imports numpy's tests and its Fortran tools.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.special import (
        beta,
        betainc,
        betaincc,
        betainccinv,
        betaincinv,
        betaln,
        erfcx,
        erfinv,
        gammaln,
        log_ndtr,
        ndtri_exp,
        xlog1py,
        xlogy,
    )

__all__ = [
    "beta",
    "betainc",
    "betaincc",
    "betainccinv",
    "betaincinv",
    "betaln",
    "erfcx",
    "erfinv",
    "gammaln",
    "log_ndtr",
    "logsumexp",
    "ndtri_exp",
    "xlog1py",
    "xlogy",
]


# Each is loaded after those that it loads by their names.
_COMPILED = ("_ufuncs_cxx", "_ellip_harm_2", "_special_ufuncs", "_gufuncs", "_ufuncs")


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'holdfast.theory.base.special' has no attribute {name!r}")
    compiled = _compiled()
    value = getattr(compiled if hasattr(compiled, name) else _package(), name)
    globals()[name] = value
    return value


def logsumexp(terms: NDArray[np.float64]) -> float:
    """ln(sum(exp(terms))), to the bit what scipy's, written in Python, is of a finite column."""
    most = terms.max()
    largest = terms == most
    count = largest.sum(dtype=np.float64)
    rest = np.exp(np.where(largest, -np.inf, terms) - most).sum() / count
    return float(np.log1p(rest) + np.log(count) + most)


def _compiled() -> ModuleType:
    """The file with scipy's functions of numbers and arrays, or its package if that fails."""
    if "scipy.special" not in sys.modules:
        try:
            return [_extension(name) for name in _COMPILED][-1]
        except (AttributeError, ImportError, StopIteration):
            pass
    return _package()


def _package() -> ModuleType:
    """scipy's own package: another version may have other files, or functions elsewhere."""
    from scipy import special

    package: ModuleType = special
    return package


def _extension(name: str) -> ModuleType:
    """A compiled file of scipy.special under its own name, where its package finds it as well."""
    import scipy

    full = f"scipy.special.{name}"
    if full in sys.modules:
        return sys.modules[full]
    folder = Path(scipy.__path__[0], "special")
    files = (folder / f"{name}{suffix}" for suffix in importlib.machinery.EXTENSION_SUFFIXES)
    path = next(file for file in files if file.is_file())
    spec = importlib.util.spec_from_file_location(full, path)
    if spec is None or spec.loader is None:
        raise ImportError(full)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return sys.modules.setdefault(full, module)
