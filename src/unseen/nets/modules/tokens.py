"""Nets that read dictionaries or tokens, or give records, as modules from one tensor to logits; and texts behind their embedding."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from unseen.core.errors import InputError, KindError, NotApplicable
from unseen.nets.modules.device import tensor_of
from unseen.nets.modules.layers import eval_mode, first_input
from unseen.nets.modules.logits import plain_output

__all__ = [
    "BehindEmbedding",
    "NamedInputs",
    "TokensAsNumbers",
    "embedding_of",
    "has_tokens",
    "in_one_tensor",
    "space_of_kernels",
]

EMBEDDINGS = (nn.Embedding, nn.EmbeddingBag)
SCALE = 2.0**-40  # tokens travel beside the features so small that no distance sees them; a power of two loses no digit
ROWS = 256  # texts embedded at a time
TEXTS = ("input_ids", "tokens", "token_ids", "ids")  # names of the entry that holds the text itself


class NamedInputs(nn.Module):
    """A net that is called by names, as a function of one tensor with the entries side by side; records become logits.

    Parameters
    ----------
    module : nn.Module
        The net.
    widths : dict of str to int
        Name of each entry and its columns; empty for a net of one tensor.
    """

    def __init__(self, module: nn.Module, widths: dict[str, int]) -> None:
        super().__init__()
        self.module, self.widths = module, dict(widths)

    def forward(self, X: torch.Tensor) -> Any:
        """Return the logits of a batch."""
        if not self.widths:
            return plain_output(self.module(X))
        if len(self.widths) == 1:
            return plain_output(self.module(**{next(iter(self.widths)): X}))
        parts = X.split(list(self.widths.values()), dim=1)
        return plain_output(self.module(**dict(zip(self.widths, parts))))


class TokensAsNumbers(nn.Module):
    """A net of tokens that takes them as floats, as training many nets at once gives them; whole numbers up to 2^24 lose nothing.

    Parameters
    ----------
    module : nn.Module
        Tokens to logits.
    skip : int
        Columns before the tokens, which are scaled down where there are some, see `BehindEmbedding`.
    """

    def __init__(self, module: nn.Module, skip: int = 0) -> None:
        super().__init__()
        self.module, self.skip = module, skip

    def forward(self, X: torch.Tensor) -> Any:
        """Return the logits of a batch."""
        return self.module(tokens_beside(X, self.skip) if self.skip else (X + 0.5).floor().long())


def tokens_beside(X: torch.Tensor, size: int) -> torch.Tensor:
    """Return the tokens of texts that `BehindEmbedding` has put behind `size` features."""
    return (X[:, size:].detach() / SCALE + 0.5).floor().long()


def has_tokens(module: nn.Module, X: Any) -> bool:
    """Return whether inputs are tokens: whole numbers for a net with an embedding."""
    if isinstance(X, Mapping):
        return all(_is_whole(value) for value in X.values())
    return _is_whole(X) and any(isinstance(part, EMBEDDINGS) for part in module.modules())


def _is_whole(values: Any) -> bool:
    if isinstance(values, torch.Tensor):
        return not values.is_floating_point()
    return np.asarray(values).dtype.kind in "biu"


def in_one_tensor(module: nn.Module, X: Any) -> tuple[nn.Module, Any]:
    """Return a net and its inputs with the entries of a dictionary side by side in one tensor.

    Parameters
    ----------
    module : nn.Module
        The net, called by the names of the entries.
    X : mapping of str to array-like, or anything else, which is returned as it is
        Entries of shape (n, length), such as input_ids and attention_mask; or one entry of any shape, such as pixel_values.

    Examples
    --------
    >>> class Text(nn.Module):
    ...     def forward(self, input_ids, attention_mask):
    ...         return (input_ids * attention_mask).sum(1, keepdim=True).float()
    >>> inputs = {"input_ids": torch.tensor([[3, 4]]), "attention_mask": torch.tensor([[1, 0]])}
    >>> net, X = in_one_tensor(Text(), inputs)
    >>> X.tolist(), net(X).tolist()
    ([[3, 4, 1, 0]], [[3.0]])
    """
    if not isinstance(X, Mapping):
        return module, X
    parts = {str(name): _tensor(str(name), values) for name, values in X.items()}
    if not parts:
        raise InputError("X is an empty dictionary; give the entries that the net takes, such as input_ids.")
    if len(parts) == 1:
        ((name, only),) = parts.items()
        return NamedInputs(module, {name: 0}), only
    floats = [name for name, part in parts.items() if part.is_floating_point()]
    shapes = {name: tuple(part.shape) for name, part in parts.items()}
    if floats or any(len(shape) != 2 for shape in shapes.values()) or len({s[0] for s in shapes.values()}) != 1:
        raise InputError(
            f"X has the entries {', '.join(f'{n} {s}' for n, s in shapes.items())}; several entries must be whole numbers of shape (n, length)."
        )
    wide = {name: int(part.shape[1]) for name, part in parts.items()}
    return NamedInputs(module, wide), torch.cat([part.long() for part in parts.values()], dim=1)


def _tensor(name: str, values: Any) -> torch.Tensor:
    try:
        return values if isinstance(values, torch.Tensor) else tensor_of(values)
    except (TypeError, ValueError) as error:
        raise KindError(f"the entry {name!r} of X does not read as numbers of one shape; give an array.") from error


@torch.no_grad()
def embedding_of(module: nn.Module, X: torch.Tensor) -> str:
    """Return the name of the layer that embeds the tokens of `X`.

    Examples
    --------
    >>> net = nn.Sequential(nn.Embedding(9, 4), nn.Flatten(), nn.Linear(8, 2))
    >>> embedding_of(net, torch.tensor([[1, 2], [3, 4]]))
    '0'
    """
    ran: dict[str, tuple[int, bool]] = {}
    text = X[:2]
    if isinstance(module, NamedInputs) and len(module.widths) > 1:
        parts = dict(zip(module.widths, text.split(list(module.widths.values()), dim=1)))
        text = next((parts[name] for name in TEXTS if name in parts), next(iter(parts.values())))

    def hook(name: str) -> Any:
        def record(_: nn.Module, args: tuple[Any, ...], named: dict[str, Any]) -> None:
            given = first_input(args, named)
            same = isinstance(given, torch.Tensor) and given.shape == text.shape and bool((given == text).all())
            ran[name] = (ran.get(name, (0, False))[0] + 1, same)

        return record

    parts_of = [(name, part) for name, part in module.named_modules() if isinstance(part, EMBEDDINGS)]
    handles = [part.register_forward_pre_hook(hook(name), with_kwargs=True) for name, part in parts_of]
    try:
        with eval_mode(module):
            module(X[:2])
    finally:
        for handle in handles:
            handle.remove()
    found = [name for name, (times, same) in ran.items() if same and times == 1]
    found = found or [name for name, (times, _) in ran.items() if times == 1]
    if not found:
        raise NotApplicable(
            "the net reads tokens, but no embedding layer runs once on them; there is no space for kernels."
        )
    return found[0]


class BehindEmbedding(nn.Module):
    """A net of tokens as a function of what its embedding makes of them, so that texts can be moved and mixed.

    Rows are the flat features, then the tokens themselves, scaled down so far that no distance sees them; they tell the net its
    attention mask. A mixture of two texts attends wherever the heavier one does, or both with equal weight.

    Parameters
    ----------
    module : nn.Module
        Tokens to logits.
    embedding : str
        Layer whose output is replaced.
    shape : tuple of int
        Shape of that output for one text.
    """

    def __init__(self, module: nn.Module, embedding: str, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.module, self.embedding, self.shape = module, embedding, tuple(shape)
        self.features = nn.Identity()

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """Return the logits of a batch."""
        size = int(np.prod(self.shape))
        features = self.features(X[:, :size].reshape(len(X), *self.shape))
        tokens = tokens_beside(X, size)
        handle = self.module.get_submodule(self.embedding).register_forward_hook(lambda *_: features)
        try:
            return plain_output(self.module(tokens))
        except (IndexError, RuntimeError, ValueError, TypeError) as error:
            text = (str(error).splitlines() or [""])[0]
            raise NotApplicable(f"this net of tokens cannot take what the measure makes of them ({text}).") from error
        finally:
            handle.remove()

    def trainable(self, make: Callable[[], nn.Module]) -> Callable[[], nn.Module]:
        """Return a function that makes a fresh net like this one, for `fit_many` on `tokens_of` the texts."""
        widths = self.module.widths if isinstance(self.module, NamedInputs) else {}
        return lambda: TokensAsNumbers(NamedInputs(make(), widths))

    def tokens_of(self, X: torch.Tensor) -> torch.Tensor:
        """Return the tokens of texts as this net takes them."""
        return tokens_beside(X, int(np.prod(self.shape)))

    def like(self, trained: nn.Module) -> nn.Module:
        """Return a net that `trainable` made and that was trained, as a function of the texts as this net takes them: it embeds their tokens itself."""
        assert isinstance(trained, TokensAsNumbers)
        return TokensAsNumbers(trained.module, int(np.prod(self.shape)))

    @classmethod
    @torch.no_grad()
    def of(cls, module: nn.Module, tokens: torch.Tensor) -> tuple[BehindEmbedding, torch.Tensor]:
        """Return the net behind its embedding, and the texts as it takes them.

        Examples
        --------
        >>> net = nn.Sequential(nn.Embedding(9, 4), nn.Flatten(), nn.Linear(8, 2))
        >>> tokens = torch.tensor([[1, 2], [3, 4]])
        >>> behind, X = BehindEmbedding.of(net, tokens)
        >>> X.shape, bool(torch.allclose(behind(X), net(tokens)))
        (torch.Size([2, 10]), True)
        """
        name, kept = embedding_of(module, tokens), []
        layer = module.get_submodule(name)
        handle = layer.register_forward_hook(lambda _, __, output: kept.append(output.detach()))
        try:
            with eval_mode(module):
                for part in tokens.split(ROWS):
                    module(part)
        finally:
            handle.remove()
        features = torch.cat(kept)
        rows = torch.cat([features.flatten(1).float(), tokens.float() * SCALE], dim=1)
        return cls(module, name, tuple(features.shape[1:])), rows


def space_of_kernels(module: nn.Module) -> str | None:
    """Return the layer behind which kernels belong if inputs are not to be moved themselves; None for plain inputs."""
    return "features" if isinstance(module, BehindEmbedding) else None
