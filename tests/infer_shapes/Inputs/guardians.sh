# guardians.sh COMPILER TOOL OUT SOURCE...: the guardians of a program, which no level of optimisation may change.
compiler=$1 tool=$2 out=$3
shift 3
for level in 0 1 2; do
  objects=
  for source in "$@"; do
    object=$out.$(basename "$source").$level.o
    $compiler -g -O$level -c "$source" -o "$object" || exit 1
    objects="$objects $object"
  done
  "$tool" infer --why --infer-time 0 $objects > "$out.$level.all" || exit 1
  # The reasons, which have everything that the analysis found; the table around them is the report's.
  grep -E "^      |guard.*(together|other)|guardians?[;$]" "$out.$level.all" > "$out.$level.txt"
done
diff "$out.0.txt" "$out.1.txt" >&2 || { echo "-O0 and -O1 differ" >&2; exit 1; }
diff "$out.0.txt" "$out.2.txt" >&2 || { echo "-O0 and -O2 differ" >&2; exit 1; }
cat "$out.0.txt"
