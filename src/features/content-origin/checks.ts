import type { Milliseconds } from '../../base/units.ts'
import { type CheckResult, ok, problem, warning } from '../../core/check-result.ts'
import { BaseAddress } from '../../http/base-address.ts'
import { FetchFailed, fetchResponse } from '../../base/fetch.ts'

const TIMEOUT: Milliseconds = 5000
/** Any route of the base address, and none of the content origin. */
const PROBE = 'management/health'

/** Whether requests to the content origin reach the service as such. The service may be stopped, which is no problem. */
export async function checkContentOrigin(href: string): Promise<CheckResult[]> {
  const title = `content origin: ${href}`
  try {
    const url = new BaseAddress(href).at(PROBE)
    const { status, text } = await fetchResponse({ url, timeout: TIMEOUT, maxBytes: 65_536, verifyTls: true })
    if (status === 404 && text.includes('urn:stowage:problem:not-found')) return [ok(title)]
    if (status !== 200) return [warning(`${title} does not lead to this service: ${PROBE} returns ${status}`)]
    return [
      problem(
        `${title} answers like the base address, so files would come back to it without end: ` +
          'its proxy must pass on the Host header',
      ),
    ]
  } catch (error) {
    if (!(error instanceof FetchFailed)) throw error
    return [warning(`${title} cannot be checked now: ${error.message}`)]
  }
}
