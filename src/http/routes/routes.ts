import { describePaths, type Paths } from '../interface/document.ts'
import type { RouteDefinition } from '../interface/route.ts'
import type { Route } from '../route.ts'
import type { Services } from '../services.ts'
import { authRoutes } from './auth.ts'
import { accessMailRoutes } from './access-mails.ts'
import { accessTokenRoutes } from './access-tokens.ts'
import { authTokenRoutes } from './auth-tokens.ts'
import { archiveRoutes } from './archives.ts'
import { casRoutes } from './cas.ts'
import { contentRoutes } from './contents.ts'
import { contextRoutes } from './contexts.ts'
import { directoryRoutes } from './directory.ts'
import { factorRoutes, freshRoutes } from './factors.ts'
import { entryRoutes } from './entries.ts'
import { listRoutes } from './lists.ts'
import { linkRoutes } from './links.ts'
import { linkVisitRoutes } from './link-visits.ts'
import { lookupRoutes } from './lookup.ts'
import { managementRoutes } from './management.ts'
import { metadataRoutes } from './metadata.ts'
import { insightRoutes, monitoringRoutes } from './monitoring.ts'
import { openApiRoute } from './openapi.ts'
import { passkeyRoutes } from './passkeys.ts'
import { passwordResetRoutes } from './password-reset.ts'
import { ssoPreviewRoutes } from './sso-preview.ts'
import { newUserRoutes } from './new-users.ts'
import { newPasswordRoutes, secondStepRoutes } from './sign-in-steps.ts'
import { searchRoutes } from './search.ts'
import { oidcRoutes } from './oidc.ts'
import { samlRoutes } from './saml.ts'
import { proxyRoutes } from './proxy.ts'
import { toolRoutes } from './tools.ts'
import { trashRoutes } from './trash.ts'
import { quotaRoutes } from './quotas.ts'
import { resourceRoutes } from './resources.ts'
import { signInRoutes } from './sign-in.ts'
import { uiRoutes } from './ui.ts'
import { uploadRoutes } from './uploads.ts'
import { zipRoutes } from './zips.ts'

/** Every route of the service, independent of the settings; {@link bindRoutes} gives them their services. */
export const routes: readonly RouteDefinition<Services>[] = [
  ...authRoutes,
  ...signInRoutes,
  ...secondStepRoutes,
  ...newPasswordRoutes,
  ...freshRoutes,
  ...authTokenRoutes,
  ...factorRoutes,
  ...passkeyRoutes,
  ...accessTokenRoutes,
  ...passwordResetRoutes,
  ...casRoutes,
  ...samlRoutes,
  ...oidcRoutes,
  ...managementRoutes,
  ...ssoPreviewRoutes,
  ...directoryRoutes,
  ...newUserRoutes,
  ...monitoringRoutes,
  ...insightRoutes,
  ...searchRoutes,
  ...lookupRoutes,
  ...proxyRoutes,
  ...toolRoutes,
  ...quotaRoutes,
  ...contextRoutes,
  ...archiveRoutes,
  ...entryRoutes,
  ...accessMailRoutes,
  ...metadataRoutes,
  ...resourceRoutes,
  ...listRoutes,
  ...trashRoutes,
  ...uploadRoutes,
  ...linkRoutes,
  ...linkVisitRoutes,
  ...zipRoutes,
  ...contentRoutes,
  ...uiRoutes,
]

/** All described routes, for docs/interface.md and for tests. */
export const describedRoutes: readonly RouteDefinition<Services>[] = [...routes, openApiRoute(() => describePaths([]))]

/** The routes that the settings offer. Each gets the services that it uses. */
export function bindRoutes(deps: Services): Route[] {
  // Described at the first request for it, so that it does not delay the start.
  let paths: Paths | undefined
  const definitions = [...routes, openApiRoute(() => (paths ??= describePaths(offered, describedRoutes)))]
  const offered: RouteDefinition<Services>[] = []
  return definitions.flatMap(definition => {
    const bound = definition.bind(deps)
    if (bound) offered.push(definition)
    return bound ?? []
  })
}
