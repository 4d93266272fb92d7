"""What tells one function from another: a hash of its code and of all the values that it holds."""

import enum
import functools
import hashlib
import types
from collections.abc import Callable, Iterable
from pathlib import PurePath
from typing import Any

import numpy as np
import torch

_PLAIN = (
    type(None),
    type(...),
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    torch.dtype,
    torch.device,
    torch.Size,
)
_HEAP_TYPE = 1 << 9  # CPython's flag of classes that are written in Python


def identity(function: Callable[..., Any]) -> str | None:
    """Hash a function, or an object that can be called; none where something in it can't be told apart.

    Two functions of one hash compute the same. It covers bytecode, constants, defaults, what the function
    closes over, the globals that it names, and the attributes of objects. Modules, and functions and
    classes of other packages, count by their names. Comments and line numbers don't count.

    >>> identity(lambda x: x + 1) == identity(lambda x: x + 1), identity(lambda x: x + 2)[:7]
    (True, 'sha256:')
    >>> identity(lambda x: x + 1) == identity(lambda x: x + 2)
    False
    >>> identity(torch.Generator().manual_seed) is None  # its state lies outside of Python
    True

    Args:
        function: It may hold numbers, text, tensors, arrays, containers, functions and Python objects.
    """
    module = getattr(function, "__module__", None) or type(function).__module__
    try:
        return f"sha256:{_Identifier(_package(module)).digest(function).hex()}"
    except (_OpaqueError, RecursionError):
        return None


class _OpaqueError(Exception):
    """A value whose state can't be seen."""


class _Identifier:
    """One walk through everything that a function holds."""

    def __init__(self, package: str) -> None:
        self._package = package
        self._known: dict[int, bytes] = {}
        self._path: list[int] = []
        self._kept: list[object] = []  # so that no id is given twice

    def digest(self, value: Any) -> bytes:
        """Hash a value; one that lies within itself counts by how far out, so that cycles end."""
        if type(value) in _PLAIN or isinstance(value, enum.Enum | np.generic | PurePath):
            return _hash(type(value).__qualname__.encode(), repr(value).encode())
        if id(value) in self._path:
            return _hash(b"cycle", str(len(self._path) - self._path.index(id(value))).encode())
        if id(value) not in self._known:
            self._path.append(id(value))
            self._kept.append(value)
            kind, parts = self._parts(value)
            self._path.pop()
            self._known[id(value)] = _hash(kind.encode(), *parts)
        return self._known[id(value)]

    def _parts(self, value: Any) -> tuple[str, Iterable[bytes]]:
        if isinstance(value, torch.Tensor):
            array = value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
            return f"tensor {value.dtype} {tuple(value.shape)}", [array.tobytes()]
        if isinstance(value, np.ndarray) and value.dtype.kind != "O":
            return f"array {value.dtype.str} {value.shape}", [value.tobytes()]
        if type(value) in (list, tuple):
            return type(value).__name__, [self.digest(each) for each in value]
        if type(value) in (set, frozenset):
            return "set", sorted(self.digest(each) for each in value)
        if isinstance(value, dict):
            return "dict", [self.digest(each) for pair in value.items() for each in pair]
        if isinstance(value, types.CodeType):
            constants = [self.digest(each) for each in value.co_consts]
            return f"code {value.co_names} {value.co_flags}", [value.co_code, *constants]
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, types.MethodType):
            return "method", [self.digest(value.__func__), self.digest(value.__self__)]
        if isinstance(value, staticmethod | classmethod):
            return type(value).__name__, [self.digest(value.__func__)]
        if isinstance(value, property):
            return "property", [self.digest(value.fget)]
        if isinstance(value, functools.partial):
            return "partial", [self.digest(each) for each in (value.func, value.args, value.keywords)]
        if isinstance(value, types.ModuleType):
            return f"module {value.__name__}", []
        if isinstance(value, types.BuiltinFunctionType):
            owner = value.__self__
            of = [] if owner is None or isinstance(owner, types.ModuleType) else [self.digest(owner)]
            return f"builtin {value.__module__}.{value.__qualname__}", of
        if isinstance(value, type):
            return self._class(value)
        return self._object(value)

    def _function(self, function: types.FunctionType) -> tuple[str, Iterable[bytes]]:
        name = f"{function.__module__}.{function.__qualname__}"
        if self._is_foreign(function.__module__, function.__qualname__):
            return f"function {name}", []
        held = [function.__code__, function.__defaults__, function.__kwdefaults__]
        held += [_content(cell) for cell in function.__closure__ or ()]
        named = sorted(_names(function.__code__) & function.__globals__.keys())
        return "function", [self.digest(each) for each in (*held, *(function.__globals__[n] for n in named))]

    def _class(self, kind: type) -> tuple[str, Iterable[bytes]]:
        name = f"class {kind.__module__}.{kind.__qualname__}"
        if self._is_foreign(kind.__module__, kind.__qualname__):
            return name, []
        own = {
            key: value
            for key, value in sorted(vars(kind).items())
            if key != "_abc_impl"
            and not isinstance(value, types.GetSetDescriptorType | types.MemberDescriptorType)
            and (isinstance(value, types.FunctionType) or not key.startswith("__"))
        }
        return name, [self.digest(each) for each in (kind.__bases__, own)]

    def _object(self, value: Any) -> tuple[str, Iterable[bytes]]:
        kinds = [kind for kind in type(value).__mro__ if kind is not object]
        if not all(kind.__flags__ & _HEAP_TYPE for kind in kinds) or not hasattr(value, "__dict__"):
            raise _OpaqueError
        slots = [slot for kind in kinds for slot in _slots(kind) if hasattr(value, slot)]
        state = vars(value) | {slot: getattr(value, slot) for slot in slots}
        return "object", [self.digest(each) for each in (type(value), state)]

    def _is_foreign(self, module: str | None, qualified_name: str) -> bool:
        """Whether its name says what it is: it is another package's, and no lambda or local."""
        return _package(module) != self._package and "<" not in qualified_name


def _names(code: types.CodeType) -> set[str]:
    """The names that code, and all code within it, looks up."""
    inner = [_names(each) for each in code.co_consts if isinstance(each, types.CodeType)]
    return set(code.co_names).union(*inner)


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None


def _slots(kind: type) -> list[str]:
    slots = vars(kind).get("__slots__", ())
    return [slots] if isinstance(slots, str) else [slot for slot in slots if slot != "__dict__"]


def _package(module: str | None) -> str:
    return (module or "").partition(".")[0]


def _hash(*parts: bytes) -> bytes:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)} ".encode())
        digest.update(part)
    return digest.digest()
