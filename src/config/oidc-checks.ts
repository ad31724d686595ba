import { type Check, hasTwice, isPlainHttp, providerChecks } from './check.ts'

const idp = 'service.auth.oidc.idp.<idp>'
const list = 'service.auth.oidc.idps.<n>'

/** Settings that hold an address of a provider; http only from this host. */
const addresses = [
  `${idp}.issuer`,
  `${idp}.authorization-endpoint`,
  `${idp}.token-endpoint`,
  `${idp}.jwks-uri`,
  `${idp}.userinfo-endpoint`,
  `${idp}.end-session-endpoint`,
] as const
/** Without discovery these three are needed. */
const fixed = [`${idp}.authorization-endpoint`, `${idp}.token-endpoint`, `${idp}.jwks-uri`] as const

/** Contradictions in the settings of OpenID Connect (D26). */
export const oidcChecks: readonly Check[] = [
  ...providerChecks({
    list,
    defaultIdp: 'service.auth.oidc.default-idp',
    required: [`${idp}.issuer`, `${idp}.client-id`],
    key: 'service.auth.oidc',
    value: true,
  }),
  {
    // Sessions, audit and stored keys name a provider whatever its protocol.
    keys: [list, 'service.auth.saml.idps.<n>'],
    wrong: settings =>
      hasTwice([...settings[list], ...settings['service.auth.saml.idps.<n>']]) ||
      settings[list].some(name => name === 'cas' || name === 'saml'),
    message: 'a provider has the name of another identity provider (cas and saml are taken)',
  },
  {
    keys: [`${idp}.domains.<n>`, 'service.auth.saml.idp.<idp>.domains.<n>'],
    wrong: settings => {
      const own = [...settings[`${idp}.domains.<n>`].values()].flat()
      const others = [...settings['service.auth.saml.idp.<idp>.domains.<n>'].values()].flat()
      return hasTwice(own) || own.some(domain => others.includes(domain))
    },
    message: 'a domain is claimed twice',
  },
  ...addresses.map(
    (key): Check => ({
      keys: [key],
      wrong: settings => [...settings[key].values()].some(isPlainHttp),
      message: 'a provider over http is accepted only on this host: on the way anybody could sign in as anybody',
    }),
  ),
  {
    keys: [list, ...fixed],
    wrong: settings =>
      settings[list].some(name => {
        const given = fixed.filter(key => settings[key].get(name) !== undefined)
        return given.length > 0 && given.length < fixed.length
      }),
    message: 'a provider without discovery needs authorization-endpoint, token-endpoint and jwks-uri',
  },
]
