import type { Audit } from '../../accounts/audit.ts'
import { UNLIMITED } from '../../base/units.ts'
import type { ReachedThreshold } from '../../files/quota-thresholds.ts'

export const recordThreshold = async (audit: Audit, reached: ReachedThreshold): Promise<void> =>
  await audit.record({ event: 'quota-threshold', detail: detailOf(reached), isByService: true })

/** What the audit log says of a threshold that was reached. */
const detailOf = ({ percent, usage: { owner, limit, used } }: ReachedThreshold) => ({
  [owner.kind]: owner.id,
  percent,
  quota: limit.bytes,
  fillLevel: used.bytes,
  ...(limit.files === UNLIMITED ? {} : { maxFiles: limit.files, files: used.files }),
})
