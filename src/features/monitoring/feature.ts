import { StoreDamaged } from '../../base/errors.ts'
import { feature, offer } from '../../core/feature.ts'
import { StorageUsage } from '../../files/storage-usage.ts'
import type { Metrics } from '../../http/metrics.ts'
import { ping } from '../../stores/sql.ts'
import { History } from './history.ts'
import { storageMetrics } from './metrics.ts'
import { Readiness } from './readiness.ts'
import { historyRoutes, monitoringRoutes } from './routes.ts'
import { monitoringSettings } from './settings.ts'
import { statusRoutes } from './status-routes.ts'

/** Damage lasts: a request that needs no damaged page is answered as before, but each change may make it worse. */
async function requireUndamaged(metrics: Metrics): Promise<void> {
  if ((await metrics.refusalsWith('store-damaged')) > 0) throw new StoreDamaged()
}

export const monitoring = feature({
  name: 'monitoring',
  settings: monitoringSettings,
  routes: [...statusRoutes, ...monitoringRoutes, ...historyRoutes],
  open: core => {
    const { database, disk, ledger, metrics, settings, status, stopping, system } = core
    const storageUsage = new StorageUsage(database, system, ledger)
    const history = new History({ metrics, storageUsage, system })
    const probes = {
      database: () => Promise.all([database.get(ping), database.requireWritable(), requireUndamaged(metrics)]),
      ...(disk ? { disk: () => disk.requireHealthy() } : {}),
    }
    const readiness = new Readiness(probes, stopping)
    return {
      offers: [
        ...offer({ database, ledger, settings, status }, statusRoutes),
        ...offer({ history, metrics, readiness, settings }, [...monitoringRoutes, ...historyRoutes]),
      ],
      metrics: storageMetrics(storageUsage),
      jobs: [['history of figures', () => history.sample()]],
    }
  },
})
