import { describePaths, type Paths } from '../interface/document.ts'
import type { Offer, RouteDefinition } from '../interface/route.ts'
import type { BoundRoute } from '../bound-route.ts'
import type { HttpServices } from '../http-services.ts'
import { openApiRoute } from './openapi.ts'

/** The operation that describes all others. */
export const descriptionRoute = openApiRoute(() => describePaths([]))

/** The routes that the settings offer. Each has the services that it uses already. */
export function bindRoutes(http: HttpServices, offers: readonly Offer[]): BoundRoute[] {
  // Described at the first request for it, so that it does not delay the start.
  let paths: Paths | undefined
  const description = openApiRoute(
    () =>
      (paths ??= describePaths(
        offered,
        all.map(({ definition }) => definition),
      )),
  )
  const all = [...offers, { definition: description, bind: description.bind }]
  const offered: RouteDefinition[] = []
  return all.flatMap(({ definition, bind }) => {
    const bound = bind(http)
    if (bound) offered.push(definition)
    return bound ?? []
  })
}
