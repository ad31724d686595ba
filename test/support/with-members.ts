/** An object with some members replaced. */
export const withMembers = <T extends object>(object: T, members: Partial<T>): T =>
  new Proxy(object, {
    get: (target, name) => {
      const value: unknown = Reflect.get(name in members ? members : target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
