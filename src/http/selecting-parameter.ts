import type { RouterConstraints } from './content-origin.ts'
import type { BoundRoute } from './bound-route.ts'

/**
 * A query parameter, such as `syndication`, chooses among routes of one address: a request with the parameter is answered by a route that
 * declares it.
 */
export function parameterConstraint(): RouterConstraints {
  const names = new Set<string>()
  return {
    parameter: {
      name: 'parameter',
      storage: () => {
        const handlers = new Map<unknown, never>()
        return {
          get: name => handlers.get(name) ?? null,
          set: (name, handler) => {
            names.add(name)
            handlers.set(name, handler as never)
          },
        }
      },
      // Without a value the request matches the other routes; the declared type does not know this case.
      deriveConstraint: ({ url = '' }) => [...names].find(name => hasParameter(url, name)) ?? (undefined as never),
    },
  }
}

const hasParameter = (url: string, name: string): boolean =>
  url.includes(name) &&
  url
    .slice(url.indexOf('?') + 1)
    .split('&')
    .some(part => part === name || part.startsWith(`${name}=`))

export const selectedBy = ({ parameter }: Pick<BoundRoute, 'parameter'>): { parameter?: string } =>
  parameter === undefined ? {} : { parameter }
