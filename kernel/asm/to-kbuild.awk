# Makes assembly that kbuild takes of what rustc emits. Usage: awk -f to-kbuild.awk core.s core.s > core.S
# (the file twice: the first time through, jump tables are read).
#
#   debug information, comments          dropped; objtool makes the unwind tables
#   a section for each function          one for code, one for constants, also for those with addresses in them
#   call *NAME@GOTPCREL(%rip)            call NAME: a module has no such table
#   ret, indirect calls and jumps        the kernel's macros, which know its mitigations
#   jumps by table                       comparisons: objtool follows those
#   a function iw_NAME that C calls      iw_NAME.inside, behind a guard (guard.h)
#   a function                           aligned and padded as the kernel's own
#   a function that is called indirectly begins with the mark that processors look for which check indirect calls
BEGIN {
    print "/* Made from Rust by kernel/build.sh. */"
    print "#include <asm/nospec-branch.h>"
    print "#include \"guard.h\""
    print "#undef linux"
    print "#undef unix"
}

# Indirect calls and jumps through %REG, or through memory by way of a scratch register.
function indirect(macro, operand) {
    if (operand ~ /^%[a-z0-9]+$/) {
        print "\t" macro " " substr(operand, 2)
    } else {
        print "\tmovq " operand ", %r11"
        print "\t" macro " r11"
    }
}

# A line with the inner names of functions that C calls.
function inside(line,    done, name) {
    while (match(line, /iwd?_[a-z0-9_]+/)) {
        name = substr(line, RSTART, RLENGTH)
        done = done substr(line, 1, RSTART + RLENGTH - 1) (name in guarded ? ".inside" : "")
        line = substr(line, RSTART + RLENGTH)
    }
    return done line
}

# Notes the functions whose address the line takes.
function address(line) {
    while (match(line, /_[RZ][A-Za-z0-9_.$]+/)) {
        pointed[substr(line, RSTART, RLENGTH)]
        line = substr(line, RSTART + RLENGTH)
    }
}

# The operand of an instruction.
function operand(line) {
    sub(/^[ \t]*[a-z]+[ \t]+/, "", line)
    sub(/[ \t]+$/, "", line)
    return line
}

!/^[ \t]*\.asci/ { sub(/[ \t]*#.*/, "") }

# The first time: the targets of each table, which functions there are, whose address is taken, and which C calls.
NR == FNR {
    if ($1 == ".globl" && $2 ~ /^iwd?_/) guarded[$2]
    if ($1 == ".type" && $2 ~ /,@function$/) functions[substr($2, 1, index($2, ",") - 1)]
    else if ($1 == ".quad" || $1 !~ /^(\.|call|j)|:$/) address($0)
    if ($1 ~ /^\.LJTI[0-9_]+:$/) { table = substr($1, 1, length($1) - 1); entries[table] = 0 }
    else if (table != "" && $1 == ".quad") target[table, entries[table]++] = $2
    else table = ""
    next
}

/^[ \t]*\.section/ {
    section = $2
    skipped = section ~ /^"?\.(debug|note|llvm)/
    if (skipped) next
    if (section ~ /^"?\.text\.unlikely/) print "\t.section .text.unlikely,\"ax\",@progbits"
    else if (section ~ /^"?\.text/) print "\t.text"
    else if (section ~ /^"?\.(rodata|data\.rel\.ro)/) print "\t.section .rodata,\"a\",@progbits"
    else { print "unknown section, or data that can be written to: " section > "/dev/stderr"; exit 1 }
    next
}
/^[ \t]*\.text[ \t]*$/ { skipped = 0 }
# The table itself is of no more use.
/^\.LJTI[0-9_]+:/ { in_table = 1; next }
in_table && $1 == ".quad" { next }
{ in_table = 0 }
skipped { next }
$1 == ".globl" && $2 in guarded { next }
/iwd?_/ { $0 = inside($0) }
/^[ \t]*\.(loc|file|ident|cfi_[a-z_]+|addrsig|addrsig_sym)([ \t]|$)/ { next }

/^[ \t]*retq?[ \t]*$/ { print "\tRET"; next }

/@GOTPCREL\(%rip\)/ {
    if ($1 ~ /^(call|jmp)q?$/) { sub(/\*/, ""); sub(/@GOTPCREL\(%rip\)/, ""); sub(/jmpq/, "jmp") }
    else if ($1 ~ /^(mov|cmp|add|push)q$/) { sub(/[^ \t]*@GOTPCREL\(%rip\)/, "$&"); sub(/@GOTPCREL\(%rip\)/, "") }
    else { print "unknown use of a table of addresses: " $0 > "/dev/stderr"; exit 1 }
    print
    next
}

/^[ \t]*jmpq?[ \t]+\*\.LJTI/ {
    line = operand($0)
    match(line, /\.LJTI[0-9_]+/)
    table = substr(line, RSTART, RLENGTH)
    match(line, /%[a-z0-9]+/)
    register = substr(line, RSTART, RLENGTH)
    last = entries[table] - 1
    if (last < 0) { print "unknown jump table: " $0 > "/dev/stderr"; exit 1 }
    for (entry = 0; entry < last; entry++) {
        print "\tcmpq $" entry ", " register
        print "\tje " target[table, entry]
    }
    print "\tjmp " target[table, last]
    next
}
/^[ \t]*callq?[ \t]+\*/ { indirect("CALL_NOSPEC", substr(operand($0), 2)); next }
/^[ \t]*jmpq?[ \t]+\*/ { indirect("JMP_NOSPEC", substr(operand($0), 2)); next }
$1 == ".type" && $2 ~ /,@function$/ { print "\tSYM_F_ALIGN" }
{ print }
/^[^ \t].*:$/ && substr($0, 1, length($0) - 1) in functions && substr($0, 1, length($0) - 1) in pointed { print "\tENDBR" }

END {
    for (name in guarded) print "GUARD " name
}
