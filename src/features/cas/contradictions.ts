import { type Check, isPlainHttp, needs } from '../../config/check.ts'
import { protocols } from '../sso/protocols.ts'
import type { casSettings } from './settings.ts'

/** Contradictions between the settings of CAS (I5.4, D9). */
export const casContradictions: ReadonlyArray<Check<typeof casSettings.rows>> = [
  needs('service.auth.cas', true, 'service.auth.cas.server.url'),
  {
    keys: ['service.auth.cas.server.url'],
    wrong: settings => isPlainHttp(settings['service.auth.cas.server.url']),
    message:
      'a CAS server over http is accepted only on this host: an attacker on the network path could sign in as any user',
  },
  {
    // The other protocols are registered later.
    get keys() {
      return ['service.auth.cas' as const, ...others().map(({ keys }) => keys.on)]
    },
    warning: 'cas-signs-in-all',
    wrong: settings => settings['service.auth.cas'] && others().some(({ isOn }) => isOn(settings)),
    message: 'the CAS server can sign in the users of every other provider, because domains do not restrict CAS',
  },
  {
    keys: ['service.auth.cas.version', 'service.auth.cas.groups-attribute', 'service.auth.cas.map.<target>'],
    wrong: settings =>
      settings['service.auth.cas'] &&
      settings['service.auth.cas.version'] === 'cas1' &&
      (settings['service.auth.cas.groups-attribute'] !== undefined ||
        settings['service.auth.cas.map.<target>'].size > 0 ||
        settings['service.auth.cas.required.<attribute>'].size > 0),
    message: 'CAS 1 has no attributes, so nothing can be mapped or required: use cas3',
  },
]

const others = () => protocols.filter(({ name }) => name !== 'cas')
