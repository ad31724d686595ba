import type { Route } from '../route.ts'
import type { Services } from '../services.ts'
import { authRoutes } from './auth.ts'
import { authTokenRoutes } from './auth-tokens.ts'
import { archiveRoutes } from './archives.ts'
import { casRoutes } from './cas.ts'
import { contextRoutes } from './contexts.ts'
import { directoryRoutes } from './directory.ts'
import { entryRoutes } from './entries.ts'
import { listRoutes } from './lists.ts'
import { lookupRoutes } from './lookup.ts'
import { managementRoutes } from './management.ts'
import { metadataRoutes } from './metadata.ts'
import { monitoringRoutes } from './monitoring.ts'
import { openApiRoute } from './openapi.ts'
import { passwordResetRoutes } from './password-reset.ts'
import { searchRoutes } from './search.ts'
import { samlRoutes } from './saml.ts'
import { proxyRoutes } from './proxy.ts'
import { toolRoutes } from './tools.ts'
import { resourceRoutes } from './resources.ts'
import { signInRoutes } from './sign-in.ts'
import { uiRoutes } from './ui.ts'

/** Every address of the service. */
export function routes(deps: Services): Route[] {
  const all = [
    ...authRoutes(deps),
    ...signInRoutes(deps),
    ...authTokenRoutes(deps),
    ...passwordResetRoutes(deps),
    ...casRoutes(deps),
    ...samlRoutes(deps),
    ...managementRoutes(deps),
    ...directoryRoutes(deps),
    ...monitoringRoutes(deps),
    ...searchRoutes(deps),
    ...lookupRoutes(deps),
    ...proxyRoutes(deps),
    ...toolRoutes(deps),
    ...contextRoutes(deps),
    ...archiveRoutes(deps),
    ...entryRoutes(deps),
    ...metadataRoutes(deps),
    ...resourceRoutes(deps),
    ...listRoutes(deps),
  ]
  // Pages are no part of what programs are told about.
  return [...all, ...uiRoutes(deps), openApiRoute(deps, all)]
}
