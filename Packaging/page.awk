# Finishes a man page of the argument parser's generator: awk -v folder=(of all pages) -v statuses_of=(the page with their table) -f page.awk PAGE
# Commands are neither filled nor hyphenated, so that they can be copied; what it refers to is there; each status is said.
BEGIN {
    while ((getline line < statuses_of) > 0) {
        if (line ~ /^After sysexits/) inTable = 1
        else if (inTable && line ~ /^##/) break
        if (inTable && split(line, cell, " [|] |^[|] | [|]$") > 2 && cell[2] ~ /^[0-9]/)
            statuses = statuses ".It " cell[2] "\n" cell[3] "\n"
    }
}
(!/^\./ && /  [^ ]/) != isExample { isExample = !isExample; print isExample ? ".nf" : ".fi" }
/^\.Xr/ { if (system("test -e '" folder "/" $2 ".1'") != 0) next }
/^\.Ex -std/ {
    if (FILENAME ~ /\/ship-store\.1$/) printf ".Bl -tag -width 6n\n%s.El\n", statuses
    else print "As\n.Xr ship-store 1\nsays."
    next
}
/^$/ { $0 = ".Pp" }
!/^\./ { gsub(/-/, "\\-"); gsub(/`/, "\\(ga"); gsub(/'/, "\\(aq") }
{ print }
# The macros turn it on again.
/^\.(Os|Sh|Pp|It)/ { print ".nh" }
