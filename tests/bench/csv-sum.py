# One column of a raw page, summed: what a first script does.
import csv, sys

with open(sys.argv[1], newline="") as f:
    for line in f:
        if line.startswith('"ID"'):
            break
    names = next(csv.reader([line]))
    column = names.index(sys.argv[2])
    rows = csv.reader(f)
    next(rows)
    print(sum(float(row[column].replace(",", "")) for row in rows))
