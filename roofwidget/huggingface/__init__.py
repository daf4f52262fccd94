"""A Hugging Face `config.json` → Transformer, for every family whose definition is known here."""

from roofwidget.huggingface.families import families, from_config
from roofwidget.huggingface.reading import ConfigError, read

__all__ = ["ConfigError", "families", "from_config", "read"]
