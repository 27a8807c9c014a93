# SPDX-License-Identifier: GPL-2.0-only
# `gtp export csv`: writes the table of each tracepoint to a file; with several tracepoints, to a folder of files.
import os
import re

from gtp.commands import table
from gtp.export import frames, registry


def write(path, arg):
    with frames.Run(arg, usage=registry.usage("csv")) as run:
        if len(run.places) == 1:
            told = "%d rows" % table.write_csv(path, run.places[0].table)
        else:
            os.mkdir(path)
            rows = sum(table.write_csv(os.path.join(path, file_name(place)), place.table) for place in run.places)
            told = "%d files, %d rows" % (len(run.places), rows)
        return "; ".join([told, *run.lacks()])


def file_name(place):
    return "%d-%s.csv" % (place.number, re.sub(r"[^\w.-]+", "_", place.name)[:100])


registry.add("csv", "the frames as gtp table --csv writes them; FILE is a folder when there are several tracepoints",
             "[N] [COLUMN, ...] [if EXPRESSION] [--limit ROWS]", write)
