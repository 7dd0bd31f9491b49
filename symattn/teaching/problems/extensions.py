"""What comes after self-attention: other sources, positions, caches, other orders of work (rules.md 5, type 18)."""

from symattn.teaching.problems.full import Asked, variety

TYPE = variety(
    "extensions",
    "Cross-attention, positions, cache, linear attention, online softmax",
    {
        "cross-attention": Asked(
            "cross_attention", "Queries come from one sequence; keys and values come from the output of an encoder."
        ),
        "rotary": Asked(
            "rotary_attention", "Queries and keys are rotated by angles that grow with their positions, then compared."
        ),
        "positions": Asked("positional_encoding", "Work out the encoding of every position, and add it to the inputs."),
        "positions-attention": Asked(
            "positional_self_attention", "The encodings of the positions are added to the inputs; attention follows."
        ),
        "cache": Asked(
            "kv_cache", "Decode token by token: keys and values of earlier tokens are cached, not worked out again."
        ),
        "linear-attention": Asked(
            "linear_attention",
            "There is no softmax: keys and values are summed first, and every query is then applied to the sums.",
        ),
        "online-softmax": Asked(
            "online_softmax",
            "Keys and values come block by block. Keep a running maximum, a running sum and a running output.",
        ),
    },
)
