import type { Accounts } from './accounts.ts'
import { type CheckResult, ok, problem, warning } from './check-result.ts'
import type { RuntimeEnvironment } from './machine.ts'
import type { Settings } from '../config/settings.ts'
import type { Milliseconds } from '../base/units.ts'
import { VirusScan } from '../files/virus-scan.ts'
import type { BlobStore } from '../stores/blob-store.ts'
import { Clamd, type ClamdAddress, ScannerFailure } from '../stores/clamd.ts'

interface Dependencies extends Pick<Accounts, 'audit'> {
  readonly blobs: BlobStore
}

/** `undefined` where files are not scanned. */
export function createVirusScan(
  settings: Settings,
  { system, log }: RuntimeEnvironment,
  { blobs, audit }: Dependencies,
): VirusScan | undefined {
  const clamd = clamdOf(settings)
  if (!clamd) return undefined
  return new VirusScan(
    {
      blobs,
      clamd,
      concurrency: settings['service.data.virus-scan.concurrency'],
      system,
      log,
      onInfected: ({ sender, context, entry, signature, size, sha256 }) =>
        audit.record({
          event: 'virus-found',
          actorId: sender?.userId,
          address: sender?.address,
          detail: { context, ...(entry === undefined ? {} : { entry }), signature, size, sha256 },
        }),
    },
    {
      maxSize: settings['service.data.virus-scan.max-size'],
      large: settings['service.data.virus-scan.large-files'],
      failure: settings['service.data.virus-scan.failure'],
    },
  )
}

function clamdOf(settings: Settings, maxTimeout = Number.POSITIVE_INFINITY): Clamd | undefined {
  const place = settings['service.data.virus-scan']
  if (place === undefined) return undefined
  const timeout = Math.min(settings['service.data.virus-scan.timeout'], maxTimeout)
  return new Clamd({ address: addressOf(place), timeout })
}

/** The form of the setting was checked. */
function addressOf(place: string): ClamdAddress {
  if (place.startsWith('/')) return { path: place }
  const colon = place.lastIndexOf(':')
  return { host: place.slice(0, colon).replace(/^\[(.*)\]$/, '$1'), port: Number(place.slice(colon + 1)) }
}

/** The test file that every scanner reports (EICAR). In two parts, so that no scanner reports this program. */
const TEST_FILE = ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR-STANDARD-', 'ANTIVIRUS-TEST-FILE!$H+H*'].join('')

/** The test file is scanned at once, so `doctor` need not wait longer. */
const DOCTOR_TIMEOUT: Milliseconds = 10_000

/** Whether clamd responds, and whether its signatures recognise the test file. */
export async function checkVirusScan(settings: Settings): Promise<CheckResult[]> {
  const clamd = clamdOf(settings, DOCTOR_TIMEOUT)
  if (!clamd) return []
  try {
    const version = await clamd.version()
    const { kind } = await clamd.scan(testFile())
    return [
      ok(`virus scan: ${version} at ${clamd.place}`),
      ...(kind === 'infected' ? [] : [warning('virus scan: clamd does not recognise the EICAR test file')]),
    ]
  } catch (error) {
    if (!(error instanceof ScannerFailure)) throw error
    const isFatal = settings['service.data.virus-scan.failure'] === 'reject'
    return [
      isFatal ? problem(`virus scan: ${error.message}; uploads are rejected`) : warning(`virus scan: ${error.message}`),
    ]
  }
}

async function* testFile(): AsyncGenerator<Uint8Array> {
  yield Buffer.from(TEST_FILE)
}
