import { feature, offer } from '../../core/feature.ts'
import { Datasets } from './datasets.ts'
import { rowStoreRoutes } from './routes.ts'
import { RowStore } from './rowstore.ts'
import { rowStoreSettings } from './settings.ts'

/** It is opened while it is off too: its addresses say that it is. */
export const rowStore = feature({
  name: 'rowstore',
  settings: rowStoreSettings,
  routes: rowStoreRoutes,
  open: core => {
    const { settings, version } = core
    const rowStore = new RowStore({ url: () => settings['service.rowstore.url'], userAgent: `Stowage/${version}` })
    return { offers: offer({ datasets: new Datasets({ ...core, rowStore }) }, rowStoreRoutes) }
  },
})
