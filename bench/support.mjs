import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Pool } from 'undici'

const PASSWORD = 'bench-Password-12'

/** The program with a new store in `folder`; `stop` ends both. */
export async function startService(settings = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'stowage-bench-'))
  const program = fileURLToPath(new URL('../bin/stowage.js', import.meta.url))
  const all = { 'service.http.port': '0', 'service.data.folder': folder, 'service.log.level': 'warn', ...settings }
  const sets = Object.entries(all).flatMap(([key, value]) => ['--set', `${key}=${value}`])
  const service = spawn(process.execPath, [...process.execArgv, program, 'serve', ...sets], {
    env: { ...process.env, SERVICE_ADMIN_PASSWORD: PASSWORD },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise(resolve => service.once('exit', resolve))
  const stop = async () => {
    service.kill()
    await ended
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const base = await new Promise((resolve, reject) => {
      createInterface(service.stdout).on('line', line => resolve(/serves (\S+)/.exec(line)?.[1]))
      service.once('exit', () => reject(new Error('the service did not start')))
    })
    return { base, folder, password: PASSWORD, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The headers that make requests those of the administrator. */
export async function signIn({ base, password }) {
  const pool = new Pool(base)
  const form = new URLSearchParams({ auth_username: 'admin', auth_password: password }).toString()
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const login = await pool.request({ method: 'POST', path: '/auth/cookie', headers, body: form })
  await login.body.dump()
  await pool.close()
  return { cookie: String(login.headers['set-cookie']).split(';')[0] }
}

export function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]
}
