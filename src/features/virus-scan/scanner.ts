import type { Audit } from '../../accounts/audit.ts'
import type { Log } from '../../base/log.ts'
import type { System } from '../../base/system.ts'
import type { Milliseconds } from '../../base/units.ts'
import type { SettingsOf } from '../../config/settings.ts'
import { type CheckResult, ok, problem, warning } from '../../core/check-result.ts'
import type { BlobStore } from '../../stores/blob-store.ts'
import { Clamd, type ClamdAddress, ScannerFailure } from './clamd.ts'
import type { virusScanSettings } from './settings.ts'
import { VirusScan } from './virus-scan.ts'

type VirusScanSettings = SettingsOf<(typeof virusScanSettings)['rows']>

interface Dependencies {
  readonly blobs: BlobStore
  readonly audit: Audit
  readonly system: System
  readonly log: Log
}

/** clamd itself gives up a file after this time (`MaxScanTime`). */
const TIMEOUT: Milliseconds = 120_000

/** `undefined` where files are not scanned. */
export function createVirusScan(
  settings: VirusScanSettings,
  { blobs, audit, system, log }: Dependencies,
): VirusScan | undefined {
  const clamd = clamdOf(settings, TIMEOUT)
  if (!clamd) return undefined
  return new VirusScan(
    {
      blobs,
      clamd,
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
      unscanned: settings['service.data.virus-scan.failure'],
    },
  )
}

function clamdOf(settings: VirusScanSettings, timeout: Milliseconds): Clamd | undefined {
  const place = settings['service.data.virus-scan']
  return place === undefined ? undefined : new Clamd({ address: addressOf(place), timeout })
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
export async function checkVirusScan(settings: VirusScanSettings): Promise<CheckResult[]> {
  const clamd = clamdOf(settings, DOCTOR_TIMEOUT)
  if (!clamd) return []
  try {
    const version = await clamd.version()
    const { kind } = await clamd.scan(testFile())
    return [
      ok('virus-scan', 'virus scan: {version} at {place}', { version, place: clamd.place }),
      ...(kind === 'infected'
        ? []
        : [warning('virus-scan-blind', 'virus scan: clamd does not recognise the EICAR test file')]),
    ]
  } catch (error) {
    if (!(error instanceof ScannerFailure)) throw error
    const values = { reason: error.message }
    const isFatal = settings['service.data.virus-scan.failure'] === 'reject'
    return [
      isFatal
        ? problem('virus-scan-rejects', 'virus scan: {reason}; uploads are rejected', values)
        : warning('virus-scan-fails', 'virus scan: {reason}; uploads are stored without a scan', values),
    ]
  }
}

async function* testFile(): AsyncGenerator<Uint8Array> {
  yield Buffer.from(TEST_FILE)
}
