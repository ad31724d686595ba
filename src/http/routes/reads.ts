import type { RouteDefinition } from '../interface/route.ts'
import type { ReadServices } from '../read-services.ts'
import { contextReadRoutes } from './contexts.ts'
import { entryReadRoutes } from './entries.ts'
import { relationRoutes } from './lists.ts'
import { metadataReadRoutes } from './metadata.ts'
import { resourceReadRoutes } from './resources.ts'
import { indexRoutes } from './tools.ts'

/** The routes of the core that may take long. Reader threads answer those that are marked as heavy. */
export const readRoutes: ReadonlyArray<RouteDefinition<ReadServices>> = [
  ...indexRoutes,
  ...contextReadRoutes,
  ...entryReadRoutes,
  ...metadataReadRoutes,
  ...resourceReadRoutes,
  ...relationRoutes,
]
