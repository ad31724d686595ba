import { type Check, isPlainHttp } from '../../config/check.ts'
import { providerContradictions } from '../sso/provider-contradictions.ts'
import type { oidcSettings } from './settings.ts'

const idp = 'service.auth.oidc.idp.<idp>'
const list = 'service.auth.oidc.idps.<n>'

/** Contradictions in the settings of OpenID Connect (D26). */
export const oidcContradictions: ReadonlyArray<Check<typeof oidcSettings.rows>> = [
  ...providerContradictions<typeof oidcSettings.rows>({
    list,
    defaultIdp: 'service.auth.oidc.default-idp',
    required: [`${idp}.issuer`, `${idp}.client-id`],
    key: 'service.auth.oidc',
    value: true,
  }),
  {
    keys: [`${idp}.issuer`],
    wrong: settings => [...settings[`${idp}.issuer`].values()].some(isPlainHttp),
    message: 'a provider over http is accepted only on this host: on the way anybody could sign in as anybody',
  },
]
