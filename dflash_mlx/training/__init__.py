"""Train a drafter for a target on text of one's own: examples -> batches of blocks -> loss -> steps.

    config = {...}                                      # a drafter's config.json, see DrafterConfig
    drafter = new_drafter(DrafterConfig.from_dict(config))
    examples = [record(target, ids, prompt_length, drafter.config.target_layer_ids) for ids, prompt_length in text]
    train(drafter, target, examples, TrainingOptions(steps=2000))
    save_drafter(drafter, config, "my-drafter", bits=4)

Text that the target wrote itself trains best: the drafter has to guess what the target would say.
"""

from dflash_mlx.drafters import DrafterConfig, new_drafter
from dflash_mlx.training.checkpoint import save_drafter
from dflash_mlx.training.corpus import Example, load_examples, record, save_examples
from dflash_mlx.training.trainer import Progress, TrainingOptions, train

__all__ = [
    "DrafterConfig",
    "Example",
    "Progress",
    "TrainingOptions",
    "load_examples",
    "new_drafter",
    "record",
    "save_drafter",
    "save_examples",
    "train",
]
