import type { Feature } from '../core/feature.ts'
import { archives } from './archives/feature.ts'
import { audit } from './audit/feature.ts'
import { backups } from './backups/feature.ts'
import { directory } from './directory/feature.ts'
import { factors } from './factors/feature.ts'
import { feeds } from './feeds/feature.ts'
import { breachedPasswords } from './breached-passwords/feature.ts'
import { links } from './links/feature.ts'
import { operations } from './operations/feature.ts'
import { passkeys } from './passkeys/feature.ts'
import { contentOrigin } from './content-origin/feature.ts'
import { diagnostics } from './diagnostics/feature.ts'
import { monitoring } from './monitoring/feature.ts'
import { passwordReset } from './password-reset/feature.ts'
import { proxy } from './proxy/feature.ts'
import { quotas } from './quotas/feature.ts'
import { rowStore } from './rowstore/feature.ts'
import { scrub } from './scrub/feature.ts'
import { shareMails } from './share-mails/feature.ts'
import { search } from './search/feature.ts'
import { sessions } from './sessions/feature.ts'
import { signIn } from './sign-in/feature.ts'
import { statistics } from './statistics/feature.ts'
import { tokens } from './tokens/feature.ts'
import { telemetry } from './telemetry/feature.ts'
import { trash } from './trash/feature.ts'
import { traversal } from './traversal/feature.ts'
import { uploads } from './uploads/feature.ts'
import { verify } from './verify/feature.ts'
import { ui } from './ui/feature.ts'
import { virusScan } from './virus-scan/feature.ts'
import { saml } from './saml/feature.ts'
import { oidc } from './oidc/feature.ts'
import { cas } from './cas/feature.ts'
import { sso } from './sso/feature.ts'
import { zips } from './zips/feature.ts'

/**
 * The features in the order in which they are opened; they are closed in reverse. A feature uses the core and features before it
 * (`test/house.test.ts`).
 */
export const features: Feature[] = [
  // Closed last, so that the last metrics contain those of all features.
  telemetry,
  monitoring,
  diagnostics,
  contentOrigin,
  virusScan,
  uploads,
  quotas,
  trash,
  zips,
  links,
  search,
  audit,
  feeds,
  operations,
  directory,
  traversal,
  proxy,
  rowStore,
  shareMails,
  scrub,
  statistics,
  archives,
  backups,
  breachedPasswords,
  passwordReset,
  sessions,
  tokens,
  factors,
  passkeys,
  sso,
  saml,
  oidc,
  cas,
  signIn,
  verify,
  ui,
]
