"""The lake's folder: `lake.json` at its top says its form and the width of its ranges."""
import json
from dataclasses import dataclass

from database import LakeError
from files import LakeFiles, as_json, resolved

FORMAT = 1
DEFAULT_WIDTH = 10_000


@dataclass(frozen=True)
class Folder:
    location: str
    files: LakeFiles
    form: str  # iceberg or parquet
    width: int  # ledgers of a range; ranges begin at multiples of it


def opened(location: str, properties: dict[str, str]) -> Folder:
    location, files = resolved(location), LakeFiles(properties)
    try:
        said = json.loads(files.read(f"{location}/lake.json"))
    except FileNotFoundError as error:
        raise LakeError(f"there is no lake in {location}: `lake update` makes one") from error
    if said.get("format") != FORMAT:
        raise LakeError(f"{location}/lake.json has the format {said.get('format')}, this program writes {FORMAT}")
    return Folder(location, files, said["form"], said["range_ledgers"])


def made(location: str, properties: dict[str, str], form: str, width: int | None) -> Folder:
    """Opens the lake, or makes an empty one."""
    files = LakeFiles(properties)
    if not files.exists(f"{resolved(location)}/lake.json"):
        about = {"format": FORMAT, "form": form, "range_ledgers": width or DEFAULT_WIDTH}
        files.replace(f"{resolved(location)}/lake.json", as_json(about))
    folder = opened(location, properties)
    if folder.form != form:
        raise LakeError(f"{folder.location} is a lake of {folder.form} files, not of {form}")
    if width not in (None, folder.width):
        raise LakeError(f"{folder.location} has ranges of {folder.width} ledgers, not of {width}")
    return folder
