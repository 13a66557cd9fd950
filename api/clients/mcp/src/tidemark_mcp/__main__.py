"""``python -m tidemark_mcp``"""

from . import main

main()
