"""Reading YAML, of which only these tests need a reader: whoever runs the others has none."""

from pathlib import Path
from typing import Any


def documents(path: Path) -> list[Any]:
    """What a file holds. A key that stands twice is a mistake that most readers pass over."""
    import yaml

    class Strict(yaml.SafeLoader):
        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            keys = [key.value for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
            assert len(keys) == len(set(keys)), f"{path}, line {node.start_mark.line + 1}: a key stands twice"
            return super().construct_mapping(node, deep)

    return list(yaml.load_all(path.read_text(encoding="utf-8"), Strict))
