import { Fragment } from 'preact'
import { part } from '../lib/base.ts'
import { useLoaded } from '../lib/load.ts'
import { t } from '../lib/language.ts'
import { hasQuotas, loadMyQuotas, othersTitle, type OthersQuota, ownerTitle, type OwnerQuota } from '../lib/quotas.ts'
import { Await, Card } from './page.tsx'
import { FileCountBar, QuotaBar } from './quota-bar.tsx'
import { ReservedUploads } from './reserved-uploads.tsx'

/** The quotas that apply to the user everywhere; nothing where quotas are switched off. */
export const MyQuotas = () => (hasQuotas ? <MyQuotasCard /> : null)

function MyQuotasCard() {
  const [loaded, again] = useLoaded(signal => loadMyQuotas(undefined, signal), [])
  return (
    <Card title={t('quotasMine')}>
      <Await loaded={loaded} again={again}>
        {quotas =>
          quotas.map(quota => (
            <Fragment key={quota.owner.kind}>
              <Bars quota={quota} />
              {'reserved' in quota && quota.owner.kind === 'user' && (
                <ReservedUploads path={`quota/users/${part(quota.owner.id)}`} reserved={quota.reserved} again={again} />
              )}
            </Fragment>
          ))
        }
      </Await>
    </Card>
  )
}

interface OtherQuotasProps {
  readonly context: string
  /** Increases when the usage may have changed. */
  readonly round: number
}

/** What uploads in progress have reserved of the quota of a context, for its owners; nothing where there are none. */
export function ReservedInContext({ context }: { readonly context: string }) {
  const [loaded, again] = useLoaded(signal => loadMyQuotas(context, signal), [context])
  if (loaded.state !== 'ready') return null
  const reserved = loaded.value.reduce(
    (sum, quota) => ('reserved' in quota && quota.owner.kind === 'context' ? quota.reserved : sum),
    0,
  )
  if (reserved === 0) return null
  return (
    <Card title={t('reservedUploads')}>
      <ReservedUploads path={`quota/contexts/${part(context)}`} reserved={reserved} again={again} />
    </Card>
  )
}

/** The limits for files in a context, besides the bytes of the context. */
export function OtherQuotas({ context, round }: OtherQuotasProps) {
  const [loaded] = useLoaded(signal => loadMyQuotas(context, signal), [context, round])
  if (loaded.state !== 'ready') return null
  return (
    <>
      {loaded.value.map(quota => (
        <Bars key={quota.owner.kind} quota={quota} isLimitOnly />
      ))}
    </>
  )
}

interface BarsProps {
  readonly quota: OwnerQuota | OthersQuota
  /** Leaves out what is unlimited, and the bytes of a context. */
  readonly isLimitOnly?: boolean
}

function Bars({ quota, isLimitOnly = false }: BarsProps) {
  if ('full' in quota)
    return quota.full ? <p class="error small">{t('quotaFull', { name: othersTitle(quota.owner.kind) })}</p> : null
  const name = ownerTitle(quota)
  const hasBytes = !isLimitOnly || (quota.quota >= 0 && quota.owner.kind !== 'context')
  return (
    <>
      {hasBytes && <QuotaBar name={name} quota={quota} isNamed />}
      <FileCountBar name={name} files={quota.files} maxFiles={quota.maxFiles} isNamed />
    </>
  )
}
