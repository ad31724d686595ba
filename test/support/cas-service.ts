import { CasBrowser } from './cas-browser.ts'
import { type FakeCas, type FakeCasOptions, startFakeCas } from './fake-cas.ts'
import { freePort } from './peers/peer-process.ts'
import { type InProcess, startInProcess } from './service.ts'

interface Test {
  after(work: () => Promise<void>): void
}

export interface CasService {
  readonly service: InProcess
  readonly cas: FakeCas
  /** A new browser without cookies. */
  readonly browser: () => CasBrowser
}

/** A fake CAS server, and a service that signs in through it and creates unknown users. */
export async function startWithCas(
  t: Test,
  settings: Readonly<Record<string, string>> = {},
  options: FakeCasOptions = {},
): Promise<CasService> {
  const clock: { now?: () => number } = {}
  const cas = await startFakeCas(t, { now: () => clock.now?.() ?? 0, ...options })
  // With a base address of another name the service is reached like behind a proxy, on a port that it does
  // not know.
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
