import { Button } from '../../components/button.tsx'
import { English } from '../../components/english.tsx'
import { Fact } from '../../components/fact.tsx'
import { Await, Card } from '../../components/page.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { ask } from '../../lib/api.ts'
import { address } from '../../lib/base.ts'
import { dateTime, dateTimeSeconds, number } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { explainCheck } from '../../lib/sso-checks.ts'
import { tellEvidence } from './sso-evidence.tsx'
import { AdminPage } from './admin-page.tsx'
import { SsoPreview } from './sso-preview.tsx'

interface Certificate {
  readonly subject: string
  readonly sha256: string
  readonly expires: string
  readonly daysLeft: number
}

interface Provider {
  readonly name: string
  readonly acsUrl: string
  readonly metadata: { readonly url: string; readonly loaded?: string; readonly problem?: string }
  readonly entityId?: string
  readonly validUntil?: string
  readonly certificates?: readonly Certificate[]
  readonly federation?: {
    readonly providers: number
    readonly unusable: number
    readonly reasons: readonly string[]
  }
}

interface OidcProvider {
  readonly name: string
  readonly issuer: string
  readonly clientId: string
  readonly callbackUrl: string
  readonly metadata: Provider['metadata']
  readonly keys?: number
}

interface Failure {
  readonly time: string
  readonly provider: string
  readonly correlation: string
  readonly check: string
  readonly expected?: string
  readonly received?: string
}

interface SsoStatus {
  readonly saml: readonly Provider[]
  readonly oidc: readonly OidcProvider[]
  readonly cas?: { readonly serviceUrl: string }
  readonly failures: readonly Failure[]
}

/** The state of the identity providers, and the reasons of recently refused sign-ons. */
export function AdminSso() {
  return (
    <AdminPage title={t('adminSso')}>
      <Sso />
    </AdminPage>
  )
}

function Sso() {
  const [loaded, again] = useLoaded(signal => ask<SsoStatus>('management/sso', { signal }), [])
  return (
    <Await loaded={loaded} again={again}>
      {({ saml, oidc, cas, failures }) => (
        <>
          {saml.length + oidc.length === 0 && !cas && <p class="notice">{t('ssoOff')}</p>}
          {saml.map(provider => (
            <ProviderCard key={provider.name} provider={provider} />
          ))}
          {oidc.map(provider => (
            <OidcCard key={provider.name} provider={provider} />
          ))}
          {cas && (
            <Card title="CAS">
              <dl class="facts">
                <Fact name={t('casService')}>
                  <span class="long">{cas.serviceUrl}</span>
                </Fact>
              </dl>
            </Card>
          )}
          {(saml.length + oidc.length > 0 || cas) && (
            <SsoPreview providers={[...[...saml, ...oidc].map(({ name }) => name), ...(cas ? ['cas'] : [])]} />
          )}
          <Failures failures={failures} again={again} />
        </>
      )}
    </Await>
  )
}

function ProviderCard({ provider }: { readonly provider: Provider }) {
  const { name, acsUrl, metadata, entityId, validUntil, certificates = [], federation } = provider
  const query = new URLSearchParams({ idp: name })
  return (
    <Card
      title={`SAML: ${name}`}
      aside={
        <a class="button quiet small" href={address(`auth/saml/metadata?${query.toString()}`)} download="metadata.xml">
          {t('ourMetadata')}
        </a>
      }
    >
      <MetadataProblem metadata={metadata} />
      <dl class="facts">
        {federation ? (
          <Fact name={t('federationProviders')}>{number(federation.providers)}</Fact>
        ) : (
          <Fact name={t('entityId')}>
            <span class="long">{entityId ?? t('notKnownYet')}</span>
          </Fact>
        )}
        {federation !== undefined && federation.unusable > 0 && (
          <Fact name={t('federationUnusable')}>
            {number(federation.unusable)}
            {federation.reasons.map(reason => (
              <span key={reason} class="long small">
                <English>{reason}</English>
              </span>
            ))}
          </Fact>
        )}
        <Fact name={t('acsUrl')}>
          <span class="long">{acsUrl}</span>
        </Fact>
        <Fact name={t('metadataFrom')}>
          <span class="long">{metadata.url}</span>
        </Fact>
        <Fact name={t('metadataLoaded')}>
          {metadata.loaded === undefined ? t('notKnownYet') : dateTime(new Date(metadata.loaded))}
        </Fact>
        {validUntil !== undefined && <Fact name={t('validUntil')}>{dateTime(new Date(validUntil))}</Fact>}
      </dl>
      {certificates.length > 0 && (
        <Table
          caption={t('certificates')}
          columns={certificateColumns()}
          rows={certificates}
          keyOf={({ sha256 }) => sha256}
        />
      )}
    </Card>
  )
}

function MetadataProblem({ metadata: { problem } }: Pick<Provider, 'metadata'>) {
  if (problem === undefined) return null
  return (
    <div class="notice bad">
      <p>{t('metadataProblem')}</p>
      <p class="small">
        <English>{problem}</English>
      </p>
    </div>
  )
}

function OidcCard({ provider }: { readonly provider: OidcProvider }) {
  const { name, issuer, clientId, callbackUrl, metadata, keys } = provider
  return (
    <Card title={`OpenID Connect: ${name}`}>
      <MetadataProblem metadata={metadata} />
      <dl class="facts">
        <Fact name={t('issuer')}>
          <span class="long">{issuer}</span>
        </Fact>
        <Fact name={t('clientId')}>
          <span class="long">{clientId}</span>
        </Fact>
        <Fact name={t('callbackUrl')}>
          <span class="long">{callbackUrl}</span>
        </Fact>
        <Fact name={t('providerKeys')}>{keys === undefined ? t('notKnownYet') : number(keys)}</Fact>
        <Fact name={t('metadataLoaded')}>
          {metadata.loaded === undefined ? t('notKnownYet') : dateTime(new Date(metadata.loaded))}
        </Fact>
      </dl>
    </Card>
  )
}

/** Certificates that expire within this number of days cause a warning. */
const FEW_DAYS = 30

const certificateColumns = (): ReadonlyArray<Column<Certificate>> => [
  {
    title: t('certificate'),
    kind: 'wide',
    cell: ({ subject, sha256 }) => (
      <div>
        <strong>{subject}</strong>
        <code class="muted small long">{sha256}</code>
      </div>
    ),
  },
  { title: t('expires'), cell: ({ expires }) => dateTime(new Date(expires)) },
  { title: t('daysLeft'), cell: ({ daysLeft }) => <DaysLeft days={daysLeft} /> },
]

function DaysLeft({ days }: { readonly days: number }) {
  if (days < 0) return <span class="badge bad">{t('certificateExpired')}</span>
  return <span class={days < FEW_DAYS ? 'badge warn' : 'badge'}>{t('days', { count: number(days) })}</span>
}

function Failures({ failures, again }: { readonly failures: readonly Failure[]; readonly again: () => void }) {
  return (
    <Card
      title={t('failures')}
      aside={
        <Button kind="quiet" size="small" onPress={again}>
          {t('refresh')}
        </Button>
      }
    >
      <Table
        none={t('failuresNone')}
        caption={t('failures')}
        columns={failureColumns()}
        rows={failures}
        keyOf={({ correlation }) => correlation}
      />
    </Card>
  )
}

const failureColumns = (): ReadonlyArray<Column<Failure>> => [
  {
    title: t('time'),
    cell: ({ time, provider, correlation }) => (
      <div>
        <span class="time">{dateTimeSeconds(new Date(time))}</span>
        <div class="muted small">{provider}</div>
        <code class="muted small">{correlation}</code>
      </div>
    ),
  },
  {
    title: t('why'),
    kind: 'wide',
    cell: ({ check, expected = '–', received = '–' }) => (
      <div class="why">
        <code>{check}</code>
        <p>{explainCheck(check)}</p>
        <p class="muted small long">{tellEvidence(expected, received)}</p>
      </div>
    ),
  },
]
