import type { Audit } from '../accounts/audit.ts'
import type { Lockout } from '../accounts/lockout.ts'
import type { StepUp } from '../accounts/step-up.ts'
import { offer } from '../core/feature.ts'
import { features } from '../features/features.ts'
import type { GraphReader } from '../graph/graph-reader.ts'
import type { Files } from '../files/files.ts'
import type { Offer, RouteDefinition } from '../http/interface/route.ts'
import { contextRoutes } from '../http/routes/contexts.ts'
import { entryRoutes } from '../http/routes/entries.ts'
import { listRoutes } from '../http/routes/lists.ts'
import { managementRoutes } from '../http/routes/management.ts'
import { metadataRoutes } from '../http/routes/metadata.ts'
import { readRoutes } from '../http/routes/reads.ts'
import { resourceRoutes } from '../http/routes/resources.ts'
import { descriptionRoute } from '../http/routes/routes.ts'
import { toolRoutes } from '../http/routes/tools.ts'
import type { Database } from '../stores/database.ts'
import type { Content } from './content.ts'

interface CoreServices extends Content {
  readonly audit: Audit
  readonly database: Database
  readonly files: Files
  readonly graphs: GraphReader
  readonly lockout: Lockout
  readonly stepUp: StepUp
}

/** The routes of the core, each list with the services that it uses. */
export function offerCoreRoutes(core: CoreServices): readonly Offer[] {
  const { accessReads, audit, contexts, creation, database, entries, files, graphs, listMoves } = core
  const { lockout, metadata, resources, stepUp, views } = core
  return [
    ...offer({ audit, database, lockout, stepUp }, managementRoutes),
    ...offer({ graphs }, toolRoutes),
    ...offer({ contexts, database, entries, files, metadata, resources, views }, readRoutes),
    ...offer({ contexts, creation, graphs }, contextRoutes),
    ...offer({ accessReads, audit, database, entries, graphs }, entryRoutes),
    ...offer({ graphs, metadata }, metadataRoutes),
    ...offer({ files, graphs, resources }, resourceRoutes),
    ...offer({ database, listMoves }, listRoutes),
  ]
}

/** Every route of the program, whatever the settings: for the documentation and for tests. */
export const allRoutes: readonly RouteDefinition[] = [
  ...managementRoutes,
  ...toolRoutes,
  ...readRoutes,
  ...contextRoutes,
  ...entryRoutes,
  ...metadataRoutes,
  ...resourceRoutes,
  ...listRoutes,
  ...features.flatMap(feature => feature.routes),
  descriptionRoute,
]
