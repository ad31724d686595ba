import type { Milliseconds } from '../../base/units.ts'
import { type CheckResult, ok, problem, warning } from '../../core/check-result.ts'
import { BaseAddress } from '../../http/base-address.ts'
import { FetchFailed, fetchResponse } from '../../base/fetch.ts'

const TIMEOUT: Milliseconds = 5000
/** Any route of the base address, and none of the content origin. */
const PROBE = 'management/health'

/** Whether requests to the content origin reach the service as such. The service may be stopped, which is no problem. */
export async function checkContentOrigin(href: string): Promise<CheckResult[]> {
  try {
    const url = new BaseAddress(href).at(PROBE)
    const { status, text } = await fetchResponse({ url, timeout: TIMEOUT, maxBytes: 65_536, verifyTls: true })
    if (status === 404 && text.includes('urn:stowage:problem:not-found'))
      return [ok('content-origin', 'content origin: {url}', { url: href })]
    if (status !== 200) {
      return [
        warning(
          'content-origin-elsewhere',
          'content origin: {url} does not lead to this service: {path} returns {status}',
          { url: href, path: PROBE, status },
        ),
      ]
    }
    return [
      problem(
        'content-origin-without-host',
        'content origin: {url} answers like the base address, so files would come back to it without end: its proxy must pass on the Host header',
        { url: href },
      ),
    ]
  } catch (error) {
    if (!(error instanceof FetchFailed)) throw error
    return [
      warning('content-origin-unchecked', 'content origin: {url} cannot be checked now: {reason}', {
        url: href,
        reason: error.message,
      }),
    ]
  }
}
