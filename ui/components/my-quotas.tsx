import { useLoaded } from '../lib/load.ts'
import { t } from '../lib/language.ts'
import { hasQuotas, loadMyQuotas, ownerTitle, type OwnerQuota } from '../lib/quotas.ts'
import { Await, Card } from './page.tsx'
import { FileCountBar, QuotaBar } from './quota-bar.tsx'

/** The quotas that apply to the user everywhere; nothing where quotas are switched off. */
export const MyQuotas = () => (hasQuotas ? <MyQuotasCard /> : null)

function MyQuotasCard() {
  const [loaded, again] = useLoaded(signal => loadMyQuotas(undefined, signal), [])
  return (
    <Card title={t('quotasMine')}>
      <Await loaded={loaded} again={again}>
        {quotas => quotas.map(quota => <Bars key={quota.owner.kind} quota={quota} />)}
      </Await>
    </Card>
  )
}

interface OtherQuotasProps {
  readonly context: string
  /** Increases when the usage may have changed. */
  readonly round: number
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
  readonly quota: OwnerQuota
  /** Leaves out what is unlimited, and the bytes of a context. */
  readonly isLimitOnly?: boolean
}

function Bars({ quota, isLimitOnly = false }: BarsProps) {
  const name = ownerTitle(quota)
  const hasBytes = !isLimitOnly || (quota.quota >= 0 && quota.owner.kind !== 'context')
  return (
    <>
      {hasBytes && <QuotaBar name={name} quota={quota} isNamed />}
      <FileCountBar name={name} files={quota.files} maxFiles={quota.maxFiles} isNamed />
    </>
  )
}
