#!/opt/stowage/bin/node
// The command `stowage` of an installed service. It works with the settings and the environment variables of the service, and for root as its
// user, as `stowage.service` has them.
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const VARIABLES = '/etc/stowage/environment'
const USER = 'stowage'

process.env.SERVICE_CONFIG ||= '/etc/stowage/service.properties'
if (process.getuid() === 0) {
  const lines = existsSync(VARIABLES) ? readFileSync(VARIABLES, 'utf8').split('\n') : []
  for (const line of lines) {
    const [, name, value] = /^\s*(\w+)=(.*)$/s.exec(line) ?? []
    if (name) process.env[name] = value.trim()
  }
  Object.assign(process.env, { HOME: '/var/lib/stowage', USER, LOGNAME: USER })
  delete process.env.TMPDIR
  process.umask(0o077)
  process.initgroups(USER, USER)
  process.setgid(USER)
  process.setuid(USER)
}
// Starts Node.js again, which reads some variables only at its start.
const program = fileURLToPath(new URL('../bin/stowage.js', import.meta.url))
process.execve(process.execPath, [process.execPath, program, ...process.argv.slice(2)], process.env)
