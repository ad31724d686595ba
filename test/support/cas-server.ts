import type { Start } from './service.ts'
import type { DjangoCas } from './peers/django-cas.ts'

export const casVersions = ['cas1', 'cas2', 'cas3', 'saml11'] as const
export type CasVersion = (typeof casVersions)[number]

/** Settings of a service that signs in through this CAS server and creates unknown users. */
export const casSettings = (
  cas: DjangoCas,
  version: CasVersion,
  more: Readonly<Record<string, string>> = {},
): Start => ({
  settings: {
    'service.auth.cas': 'on',
    'service.auth.cas.version': version,
    'service.auth.cas.server.url': cas.url,
    'service.auth.cas.user-auto-provisioning': 'on',
    'service.auth.cookie.secure': 'off',
    ...more,
  },
})
