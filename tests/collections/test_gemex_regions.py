"""The regions in the code are those of GEMeX's Table 8."""

import json

from terminology.regions import ALIASES, COMPOSED, DROPPED, KEPT, MERGED
from tests.collections.folder import COLLECTIONS

TABLE = COLLECTIONS.parent / "papers" / "tables" / "gemex_table8_regions.json"


def test_the_operations_are_those_of_the_table_in_its_order():
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    operations = [
        *({"op": "keep", "target": name, "sources": [name]} for name in KEPT),
        *({"op": "merge", "target": name, "sources": list(parts)} for name, parts in MERGED.items()),
        *({"op": "drop", "target": None, "sources": [name]} for name in DROPPED),
        *({"op": "compose", "target": name, "sources": list(parts)} for name, parts in COMPOSED.items()),
    ]
    assert operations == table["operations"]
    assert table["aliases"] == ALIASES
