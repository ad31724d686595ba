import type { UploadOptions } from 'tus-js-client'
import type { Service } from './service.ts'
import type { Visitor } from './http-client.ts'

const signals = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const
const listening = new Map(signals.map(signal => [signal, process.listeners(signal)]))
const { Upload } = await import('tus-js-client')
// A package of the client listens for these signals and never stops.
for (const [signal, before] of listening)
  for (const listener of process.listeners(signal))
    if (!before.includes(listener)) process.removeListener(signal, listener)

const headersOf = ({ cookie = '' }: Visitor) => ({ cookie: `auth_token=${cookie}` })

/** Uploads with the published client. @param to.entry as `context/id` */
export const uploadWith = (
  { base }: Service,
  { visitor, entry }: { readonly visitor: Visitor; readonly entry: string },
  bytes: Buffer,
  { headers = {}, ...options }: Partial<UploadOptions> = {},
): Promise<void> =>
  new Promise((resolve, reject) => {
    const upload = new Upload(bytes, {
      endpoint: base + entry.replace('/', '/uploads/'),
      headers: { ...headersOf(visitor), ...headers },
      metadata: { filename: 'Grüße.txt', filetype: 'text/plain' },
      retryDelays: null,
      onError: reject,
      onSuccess: () => resolve(),
      ...options,
    })
    upload.start()
  })

/** Gives an upload up with the published client. */
export const terminateWith = async ({ base }: Service, visitor: Visitor, path: string): Promise<void> =>
  await Upload.terminate(base + path, { endpoint: '', headers: headersOf(visitor), retryDelays: null })
