"""The house: no import cycles, nothing private across packages, one name for one class, and no trace of removed packages."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import pytest

from unseen.core.lazy import stub_names

SOURCE = Path(__file__).resolve().parents[2] / "src"
FOUNDATIONS = ("core", "engine", "request", "show")  # everything is built on them, and their plain modules are public
REMOVED = ("adapt", "comparisons", "display", "learners", "report", "reproduce", "shortcuts", "verbs")


def _module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


TREES = {_module_name(path): ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SOURCE.rglob("*.py"))}


def _for_types_only(tree: ast.Module) -> set[ast.AST]:
    """Return the nodes below `if TYPE_CHECKING:`, which are never run."""
    guards = (n for n in ast.walk(tree) if isinstance(n, ast.If) and ast.unparse(n.test).endswith("TYPE_CHECKING"))
    return {node for guard in guards for part in guard.body for node in ast.walk(part)}


def _imports(module: str) -> list[tuple[str, str, int]]:
    """Return (module imported from, name, line) of every import of this package that can run."""
    skipped = _for_types_only(TREES[module])
    found = []
    for node in ast.walk(TREES[module]):
        if node in skipped:
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "unseen":
            found += [(str(node.module), alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [(alias.name, "", node.lineno) for alias in node.names if alias.name.split(".")[0] == "unseen"]
    return found


def _graph() -> dict[str, set[str]]:
    edges: dict[str, set[str]] = {}
    for module in TREES:
        targets = {
            f"{source}.{name}" if f"{source}.{name}" in TREES else source for source, name, _ in _imports(module)
        }
        edges[module] = {t for t in targets if t in TREES and t != module}
    return edges


def _cycles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Return the strongly connected components of more than one module (Tarjan, 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    out: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in sorted(edges[node]):
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            part = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(part) > 1:
                out.append(sorted(part))

    for node in edges:
        if node not in index:
            visit(node)
    return out


def test_imports_have_no_cycles():
    found = _cycles(_graph())
    assert not found, "these were one module: " + "; ".join(" <-> ".join(part) for part in found)


def test_the_search_for_cycles_finds_one():
    assert _cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]


def test_nothing_private_is_imported_across_packages():
    found = []
    for module in TREES:
        package = module.split(".")[:2]
        for source, name, line in _imports(module):
            parts = source.split(".")
            private = [p for p in (*parts[2:], name) if p.startswith("_") and not p.startswith("__")]
            if private and parts[:2] != package and parts[:2] != ["unseen", "_version"]:
                found.append(f"{module}:{line} imports {source} ({name})")
    assert not found, "what others need is public:\n" + "\n".join(found)


def _public_names() -> dict[str, set[str]]:
    """Return the names that each stub lists, by package."""
    stubs = SOURCE.rglob("__init__.pyi")
    return {_module_name(path): set(stub_names(str(path.with_suffix(".py")))) for path in stubs}


def test_reproductions_use_public_names_only():
    public, found = _public_names(), []
    for module in TREES:
        if not module.startswith("unseen.reproduction."):
            continue
        for source, name, line in _imports(module):
            package = (*source.split("."), "")[1]
            if package not in (*FOUNDATIONS, "reproduction") and name not in public.get(source, ()):
                found.append(f"{module}:{line} imports {source} ({name})")
    assert not found, "list these in the stub of their package, or move them:\n" + "\n".join(found)


def test_no_two_classes_share_a_name():
    places = defaultdict(list)
    for module, tree in TREES.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                places[node.name.lstrip("_")].append(module)
    shared = {name: where for name, where in places.items() if len(where) > 1}
    assert not shared, "\n".join(f"{name}: {', '.join(where)}" for name, where in sorted(shared.items()))


@pytest.mark.parametrize("package", REMOVED)
def test_removed_packages_leave_no_trace(package):
    root = SOURCE.parent
    for folder in ("src", "tests", "docs", "benchmarks", "studies", "examples", "tools"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in {".py", ".pyi", ".md", ".toml"} and path.is_file() and "_build" not in path.parts:
                text = path.read_text(encoding="utf-8")
                for form in (f"unseen.{package}.", f"from unseen.{package} ", f"import unseen.{package}\n"):
                    assert form not in text, f"{path.relative_to(root)} names unseen.{package}"
