import { Problem } from './api.ts'

export type Attributes = Readonly<Record<string, unknown>>

/**
 * Reads attributes as JSON, or as lines `name=value`, in which a name can occur several times.
 * @throws {Problem} `invalid-attributes`
 */
export function readAttributes(text: string): Attributes {
  const trimmed = text.trim()
  if (trimmed.startsWith('{')) return readJson(trimmed)
  const values = new Map<string, string[]>()
  for (const line of trimmed.split('\n')) {
    if (line.trim() === '') continue
    const at = line.indexOf('=')
    const name = line.slice(0, Math.max(at, 0)).trim()
    if (name === '') throw new Problem(400, { code: 'invalid-attributes' })
    values.set(name, [...(values.get(name) ?? []), line.slice(at + 1).trim()])
  }
  // A claim with one value is no list.
  return Object.fromEntries([...values].map(([name, all]) => [name, all.length === 1 ? all[0] : all]))
}

function readJson(text: string): Attributes {
  try {
    return JSON.parse(text) as Attributes
  } catch (error) {
    throw new Problem(400, { code: 'invalid-attributes', detail: String(error) })
  }
}
