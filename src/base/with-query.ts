/** The address with additional parameters. Its existing query is unchanged, and its fragment stays at the end. */
export function withQuery(address: string, parameters: Readonly<Record<string, string>>): string {
  const [, before = '', fragment = ''] = /^([^#]*)(.*)$/s.exec(address) ?? []
  const more = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  const glue = !before.includes('?') ? '?' : /[?&]$/.test(before) ? '' : '&'
  return `${before}${glue}${more.join('&')}${fragment}`
}
