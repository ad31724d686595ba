/** Each command with the ways to call it, as `stowage help` prints them. */
async function commands() {
  // Imported here, where the release of Node.js is right: an older one could not even link it.
  const { usage } = await import('../../src/commands/commands.ts')
  const found = []
  for (const line of (await usage()).split('\n')) {
    const [, summary] = /^ {6}(\S.*)$/.exec(line) ?? []
    const [, first] = /^ {2}(\S.*)$/.exec(line) ?? []
    const [, further] = /^ {7}(\S.*)$/.exec(line) ?? []
    if (first) found.push({ name: first.split(' ')[0], calls: [first] })
    if (further) found.at(-1).calls.push(further)
    if (summary) found.at(-1).summary = summary
  }
  return found
}

/** The page of `man stowage`. */
export async function manualPage(version) {
  const entries = (await commands()).map(
    ({ calls, summary }) => `.TP\n${calls.map(call => `.B ${escape(call)}`).join('\n.TQ\n')}\n${escape(summary)}`,
  )
  return `.TH STOWAGE 1 "" "Stowage ${version}" "User Commands"
.SH NAME
stowage \\- server for files and linked\\-data metadata
.SH SYNOPSIS
.B stowage
.I COMMAND
[\\fIOPTION\\fR]...
.SH COMMANDS
${entries.join('\n')}
.SH FILES
.TP
.I /etc/stowage/service.properties
The settings. They are named in /opt/stowage/docs/configuration.md.
.TP
.I /var/lib/stowage
Database and files.
.SH EXIT STATUS
0 after success, 1 after a failure, 2 for wrong arguments.
.SH SEE ALSO
/opt/stowage/docs/README.md
`
}

/** Completion of commands and options for bash; other words are completed as files. */
export async function completion() {
  const all = await commands()
  const wordsOf = ({ name, calls }) => {
    const words = calls.flatMap(call => call.slice(name.length).match(/--[a-z-]+|(?<=^ )[a-z][a-z-]*/g) ?? [])
    return [...new Set(words)].join(' ')
  }
  const cases = all.map(command => `    ${command.name}) words='${wordsOf(command)}' ;;`)
  return `_stowage() {
  local words
  case $([[ $COMP_CWORD -gt 1 ]] && echo "\${COMP_WORDS[1]}") in
    '') words='${all.map(({ name }) => name).join(' ')}' ;;
${cases.join('\n')}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _stowage stowage
`
}

/** Text in which roff sees no commands. */
function escape(text) {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('…', '...')
    .replace(/^(?=[.'])/, '\\&')
}
