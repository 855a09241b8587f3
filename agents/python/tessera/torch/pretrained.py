# SPDX-License-Identifier: Apache-2.0
"""Lets `build(mesh)` call `from_pretrained` of transformers.

`build` also runs on the meta device, where from_pretrained refuses to load. There the model is made
from its configuration alone, with the shapes and types that it would have.
"""

from __future__ import annotations

import copy
import functools
import sys
from typing import Any

import torch

from tessera._library import TesseraError

# Options of from_pretrained that say where the files are, which the configuration needs as well.
_PLACE = (
    "cache_dir",
    "force_download",
    "local_files_only",
    "proxies",
    "revision",
    "subfolder",
    "token",
    "trust_remote_code",
)
# Options that say how values are loaded.
_LOADING = (
    "_from_auto",
    "_from_pipeline",
    "adapter_kwargs",
    "adapter_name",
    "device_map",
    "generation_config",
    "ignore_mismatched_sizes",
    "key_mapping",
    "low_cpu_mem_usage",
    "max_memory",
    "offload_buffers",
    "offload_folder",
    "state_dict",
    "use_safetensors",
    "variant",
    "weights_only",
)
# Options that make another program than the one that build(mesh) describes.
_REFUSED = ("distributed_config", "gguf_file", "quantization_config", "tp_plan", "tp_size")


def install() -> bool:
    """Returns whether transformers is imported. Its from_pretrained is then ready for `build`."""
    if "transformers" not in sys.modules:
        return False
    from transformers.modeling_utils import PreTrainedModel

    models: Any = PreTrainedModel
    load = models.from_pretrained.__func__
    if getattr(load, "_tessera", False):
        return True

    @functools.wraps(load)
    def from_pretrained(cls: Any, path: Any, *arguments: Any, **options: Any) -> Any:
        if torch.get_default_device().type != "meta":
            return load(cls, path, *arguments, **options)
        return _without_values(cls, path, *arguments, **options)

    from_pretrained._tessera = True  # type: ignore[attr-defined]
    models.from_pretrained = classmethod(from_pretrained)
    return True


def _without_values(
    cls: Any, path: Any, *arguments: Any, config: Any = None, **options: Any
) -> Any:
    from transformers import PreTrainedConfig

    for name in _REFUSED:
        if options.get(name) is not None:
            raise TesseraError(
                f"from_pretrained(…, {name}=…) is not possible in build(mesh): load the model "
                "without it, and cut it there over the axes of `mesh`"
            )
    dtype = options.pop("dtype", None) or options.pop("torch_dtype", None)
    informs = options.pop("output_loading_info", False)
    for name in _LOADING:
        options.pop(name, None)
    place = {name: options.pop(name) for name in _PLACE if name in options}
    if isinstance(config, PreTrainedConfig):
        config = copy.deepcopy(config)
    else:
        config, options = cls.config_class.from_pretrained(
            path if config is None else config, return_unused_kwargs=True, **place, **options
        )
    if dtype not in (None, "auto"):
        options["dtype"] = dtype
    model = cls._from_config(config, *arguments, **options).eval()
    return (model, {}) if informs else model
