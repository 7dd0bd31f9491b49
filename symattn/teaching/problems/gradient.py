"""Gradients by hand, from a Jacobian to a whole layer (rules.md 5, type 14)."""

from symattn.teaching.problems.full import Exercise, variety

TYPE = variety(
    "gradient",
    "Gradients: softmax, attention, heads, layer norm, feed-forward network, loss",
    {
        "weights-given": Exercise(
            "weights_given_gradient",
            "The gradient of a loss with respect to the output of attention is given. Propagate it back to the "
            "values, the weights, the scores, the queries and the keys.",
        ),
        "jacobian": Exercise(
            "softmax_jacobian",
            "A softmax has given these weights. Work out its Jacobian, and propagate the gradient of a loss with "
            "respect to the weights back to the scores.",
        ),
        "attention": Exercise(
            "attention_gradient", "Work out attention, and then the gradients of a loss on the way back through it."
        ),
        "self-attention": Exercise(
            "self_attention_gradient",
            "Propagate the gradient of a loss back through self-attention, to the weight matrices of the "
            "projections and to the inputs.",
        ),
        "heads": Exercise(
            "multi_head_gradient",
            "Propagate the gradient of a loss back through the output weight matrix and every head to the inputs.",
        ),
        "cross-attention": Exercise(
            "cross_attention_gradient",
            "Propagate the gradient of a loss back through cross-attention, to the weight matrices and to both "
            "sequences.",
        ),
        "rotary": Exercise(
            "rotary_attention_gradient",
            "Queries and keys are rotated by angles that grow with their positions. Propagate the gradient of a "
            "loss back to them.",
        ),
        "layer-norm": Exercise(
            "layer_norm_gradient",
            "Normalise every token, and propagate the gradient of a loss back through the layer norm.",
        ),
        "feed-forward": Exercise(
            "feed_forward_gradient",
            "Work out the feed-forward network, and propagate the gradient of a loss back through it.",
        ),
        "encoder-block": Exercise(
            "encoder_block_gradient",
            "Work out the encoder block, and propagate the gradient of a loss back through it, to all weight "
            "matrices and to the inputs.",
        ),
        "cross-entropy": Exercise(
            "cross_entropy_gradient",
            "The loss is the mean cross-entropy of the tokens. Work out its gradients, beginning with the logits.",
        ),
        "through-time": Exercise(
            "backpropagation_through_time",
            "Unroll the recurrent network, and propagate the gradient of a loss back through time.",
        ),
    },
)
