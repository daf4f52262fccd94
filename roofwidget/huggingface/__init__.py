"""A Hugging Face `config.json` → Transformer, for every family whose definition is known here."""

from roofwidget.huggingface.families import families, from_config
from roofwidget.huggingface.reading import ConfigError, is_json, read

__all__ = ["ConfigError", "families", "from_config", "is_json", "read"]
