"""What a language model makes of its last layer: logits, probabilities of the next token, the loss, the next word.

The logits are what the output layer gives (Vaswani et al. 2017, section 3.4); the loss is the mean cross-entropy of the
tokens, in nats.  With a prompt, its embeddings are looked up and stand in for the last layer.  A temperature divides
the logits (Holtzman et al. 2020, "The Curious Case of Neural Text Degeneration", section 2.2); top-k keeps the k
largest probabilities (Fan, Lewis and Dauphin 2018, section 5.1); the next word is the most probable one.
"""

from __future__ import annotations

from random import Random

from symattn.derivation.derivation import Derivation
from symattn.derivation.mechanisms.base import Mechanism
from symattn.derivation.mechanisms.drawing import MOST_TRIES, Rows, dull, entries, first_success, numbers, product
from symattn.derivation.mechanisms.settings import NEXT_WORD, Givens, Settings, Sizes
from symattn.derivation.mechanisms.steps import affine, require_positive
from symattn.derivation.ops.attention import Softmax
from symattn.derivation.ops.normalisation import Mean
from symattn.derivation.ops.scores import LogitTemperature
from symattn.derivation.ops.words import ArgMax, CrossEntropy, LookUp, TopK
from symattn.errors import InputError, LetterError, offered
from symattn.exact import Matrix, Size
from symattn.foundation.dice import pick, sample

NUMBERS = "numbers"
"""In place of words: the next word is asked for by its number."""


def derive(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    """The loss where there are targets, then what is asked of the next word."""
    d, source = _looked_up(d, settings, sizes)
    d = affine(d, "L", source, "W_U", "b_U")  # n × d_vocab
    if settings.temperature is not None:
        d = d.then("L_T", LogitTemperature(require_positive("temperature", settings.temperature)), "L")
    d = d.then("probabilities", Softmax(base=settings.base), d.last.name)
    if "T" in d.givens:
        d = d.then("loss", CrossEntropy(), "probabilities", "T")  # n × 1
        d = d.then("mean_loss", Mean("rows"), "loss")
    return _next_word(d, settings, sizes)


def _looked_up(d: Derivation, settings: Settings, sizes: Sizes) -> tuple[Derivation, str]:
    """What the logits are made of: N as it is given, or the rows of E for the words of a prompt."""
    if not settings.prompt:
        if "E" in d.givens:
            raise InputError("E has the embeddings of a prompt, and there is no prompt; leave E out, or give a prompt.")
        return d, "N"
    if "E" not in d.givens or "N" in d.givens:
        came = "N came" if "N" in d.givens else "E is missing"
        raise InputError(f"The words of a prompt are looked up in E, and their embeddings stand in for N; {came}.")
    rows = [_row(word, settings, sizes["d_vocab"]) for word in settings.prompt.split()]
    if isinstance(n := sizes.get("n", len(rows)), str):
        raise LetterError(f"The prompt has {len(rows)} words, so that n must be {len(rows)}, not {n}.")
    return d.then("X", LookUp(tuple(rows), tuple(settings.prompt.split())), "E"), "X"


def _row(word: str, settings: Settings, count: Size) -> int:
    """The row of a word, from 0: by its name among the words, else by its number."""
    words = vocabulary(settings, count)
    if word in words:
        return words.index(word)
    if words:
        raise InputError(f"The prompt has the word {word!r}; {offered(word, words, 'the words are {}')}")
    if not word.isdecimal() or int(word) < 1:
        raise InputError(
            f"The prompt has {word!r}; the number of a word from 1, or words to look it up in, was expected."
        )
    if isinstance(count, int) and int(word) > count:
        raise InputError(f"The prompt has word {word}, and there are {count}.")
    return int(word) - 1


def vocabulary(settings: Settings, count: Size) -> tuple[str, ...]:
    """The words in order, one for each column; empty if the columns have only numbers."""
    words = tuple(settings.words.split())
    if twice := [word for k, word in enumerate(words) if word in words[:k]]:
        raise InputError(f"words has {twice[0]!r} twice; every word has one number.")
    if digits := [word for word in words if word.isdecimal()]:
        raise InputError(f"words has {digits[0]!r}, which would be taken for the number of a word.")
    if words in ((), (NUMBERS,)):
        return ()
    if isinstance(count, int) and len(words) != count:
        raise InputError(f"There are {len(words)} words and {count} columns of logits; a word for each was expected.")
    return words


def _next_word(d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
    """The probabilities of the top k, and the most probable word."""
    count, source = sizes["d_vocab"], "probabilities"
    words = vocabulary(settings, count)
    if (settings.top_k or settings.words) and not isinstance(count, int):
        raise LetterError(f"The largest of the probabilities are looked for: d_vocab must be a number, not {count}.")
    if settings.top_k:
        if isinstance(count, int) and settings.top_k > count:
            raise InputError(f"top_k is {settings.top_k}, and there are {count} words.")
        d, source = d.then("top_k", TopK(settings.top_k), source), "top_k"
    return d.then("next_word", ArgMax(words), source) if settings.words else d


RANKED = 20_000
"""Draws where all logits of a row are to differ, which few do."""


def draw(settings: Settings, sizes: Sizes, rng: Random) -> Givens:
    """Logits that differ by 1 to 3 within a row; every token is to have another one, not always the likeliest."""
    n, d_model, vocabulary = numbers(sizes, "n", "d_model", "d_vocab")
    rows = [_row(word, settings, vocabulary) for word in settings.prompt.split()]
    ranked = bool(settings.top_k or settings.words)
    if rows and len(rows) != n:
        raise InputError(f"The prompt has {len(rows)} words, and n is {n}.")

    def drawn() -> Givens | None:
        table = entries(vocabulary if rows else n, d_model, rng)
        inputs, weights = [table[row] for row in rows] or table, entries(d_model, vocabulary, rng)
        logits = product(inputs, weights)
        wanted = (
            sample(rng, range(vocabulary), n) if n <= vocabulary else [pick(rng, range(vocabulary)) for _ in range(n)]
        )
        widest = max(3, vocabulary - 1) if ranked else 3  # so many logits are to differ from one another
        if dull(logits) or not _worth_setting(logits, wanted, widest) or (ranked and not _worth_ranking(logits)):
            return None
        targets = [[int(j == own) for j in range(vocabulary)] for own in wanted]
        return {"E" if rows else "N": Matrix(table), "W_U": Matrix(weights), "T": Matrix(targets)}

    return first_success(drawn, "logits that are worth setting", RANKED if ranked else MOST_TRIES)


def _worth_ranking(logits: Rows) -> bool:
    """Where the largest are looked for: no ties, and not the same word after all tokens."""
    likeliest = {row.index(max(row)) for row in logits}
    return all(len(set(row)) == len(row) for row in logits) and len(likeliest) >= min(2, len(logits))


DIFFERENT = 3


def _worth_setting(logits: Rows, wanted: list[int], widest: int) -> bool:
    """No row saturated, one tie in it or three different logits; losses that differ, some target not likeliest."""
    likeliest = [row[own] == max(row) for row, own in zip(logits, wanted, strict=True)]
    spread = all(1 <= max(row) - min(row) <= widest for row in logits)
    spread = spread and all(len(set(row)) >= min(len(row) - 1, DIFFERENT) for row in logits)
    below = [sorted(x - row[own] for x in row) for row, own in zip(logits, wanted, strict=True)]
    return spread and not all(likeliest) and len(set(map(tuple, below))) == len(below)


MECHANISM = Mechanism(
    name="language_model",
    title="Logits, probabilities and cross-entropy",
    givens={"N": ("n", "d_model"), "W_U": ("d_model", "d_vocab")},
    optional={"E": ("d_vocab", "d_model"), "b_U": ("1", "d_vocab"), "T": ("n", "d_vocab")},
    usual=("E", "T"),
    uses=NEXT_WORD,
    default_sizes={"n": 2, "d_model": 3, "d_vocab": 3},
    derive=derive,
    draw=draw,
    starts_from=lambda name, settings: {"N": not settings.prompt, "E": bool(settings.prompt)}.get(name, True),
)
