import type { Settings } from '../config/settings.ts'
import { BaseAddress } from '../http/base-address.ts'
import { AuthCookie } from '../http/protocol/cookies.ts'
import { cookieOptions } from '../assembly/server.ts'
import { type Command, print } from './command.ts'
import { ok, warning } from './diagnosis.ts'
import { examineSso } from './doctor-sso.ts'
import { examineStorage } from './doctor-storage.ts'
import { readSettings, settingsUsage } from './settings-options.ts'

export const doctor: Command = {
  name: 'doctor',
  usage: settingsUsage,
  summary: 'Checks addresses, disk, engines, keys, other nodes and identity providers without starting the service.',
  async run(args) {
    const { loaded, file, environment } = readSettings(args)
    const { settings, warnings } = loaded
    const base = new BaseAddress(settings['service.baseurl.folder'] ?? defaultBase(settings))
    const found = [
      ok(`settings: ${file ?? 'built in'}`),
      ok(`base address: ${base.href}`),
      ok(`cookie: ${new AuthCookie(cookieOptions(settings, base.path)).set('…', undefined)}`),
      ...warnings.map(warning),
      ...(await examineStorage(settings, environment.tokenKey)),
      ...(await examineSso(settings, base)),
    ]
    for (const { level, text } of found) print(level === 'ok' ? text : `${level}: ${text}`)
    return found.some(({ level }) => level === 'problem') ? 1 : 0
  },
}

const defaultBase = (settings: Settings): string => `http://127.0.0.1:${settings['service.http.port']}/`
