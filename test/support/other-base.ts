import { Visitor } from './http-client.ts'
import { freePort } from './peers/peer-process.ts'
import { type InProcess, startInProcess } from './service.ts'

/**
 * The service with a base address that is not where it listens, as behind a reverse proxy. `base` and the visitors of the
 * result are at the listening address; `publicBase` is what the answers speak of.
 */
export async function startBehind(
  t: { after(work: () => Promise<void>): void },
  publicBase: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<InProcess & { readonly publicBase: string }> {
  const port = await freePort()
  const all = { 'service.baseurl.folder': publicBase, 'service.http.port': String(port), ...settings }
  const service = await startInProcess(t, { settings: all })
  const base = `http://127.0.0.1:${port}/`
  return { ...service, base, publicBase, visitor: () => new Visitor(base) }
}
