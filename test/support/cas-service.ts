import { createServer, type AddressInfo } from 'node:net'
import { CasBrowser } from './cas-browser.ts'
import { type FakeCas, type FakeCasOptions, startFakeCas } from './fake-cas.ts'
import { type InProcess, startInProcess } from './service.ts'

interface Test {
  after(work: () => Promise<void>): void
}

export interface CasService {
  readonly service: InProcess
  readonly cas: FakeCas
  /** A new browser that has been nowhere yet. */
  readonly browser: () => CasBrowser
}

/** A service that signs in by a fake CAS server, and that server; unknown users are made. */
export async function startWithCas(
  t: Test,
  settings: Readonly<Record<string, string>> = {},
  options: FakeCasOptions = {},
): Promise<CasService> {
  const clock: { now?: () => number } = {}
  const cas = await startFakeCas(t, { now: () => clock.now?.() ?? 0, ...options })
  // Under a base address of another name it is reached as a proxy would, at a port of which it does not know.
  const port = settings['service.baseurl.folder'] === undefined ? 0 : await freePort()
  const service = await startInProcess(t, {
    settings: {
      'service.http.port': String(port),
      'service.auth.cas': 'on',
      'service.auth.cas.server.url': cas.url,
      'service.auth.cas.user-auto-provisioning': 'on',
      ...settings,
    },
  })
  clock.now = () => service.system.now()
  return { service, cas, browser: () => new CasBrowser(port === 0 ? service.base : `http://127.0.0.1:${port}/store/`) }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}
